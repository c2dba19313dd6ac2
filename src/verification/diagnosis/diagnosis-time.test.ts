import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startDiagnosisTimer } from './diagnosis-time.ts';

describe('Diagnosis time limit', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    { waits: 'nobody waits', doOthersWait: () => false, openMs: 5_800, overMs: 6_100 },
    { waits: 'others wait', doOthersWait: () => true, openMs: 2_400, overMs: 2_600 },
  ])('aborts before $overMs ms if $waits', ({ doOthersWait, openMs, overMs }) => {
    const { signal } = startDiagnosisTimer(doOthersWait);
    vi.advanceTimersByTime(openMs);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(overMs - openMs);
    expect(signal.aborted).toBe(true);
  });

  test('aborts soon after another job arrives', () => {
    let isBusy = false;
    const { signal } = startDiagnosisTimer(() => isBusy);
    vi.advanceTimersByTime(3_000);
    isBusy = true;
    vi.advanceTimersByTime(250);
    expect(signal.aborted).toBe(true);
  });

  test('leaves no timer after its end', () => {
    startDiagnosisTimer(() => false).end();
    expect(vi.getTimerCount()).toBe(0);
  });
});
