import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { diagnosisLimits, startDiagnosisTimer } from './diagnosis-time.ts';

const LIMITS = diagnosisLimits(6_000, false);

describe('Diagnosis time limit', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    { waits: 'nobody waits', doOthersWait: () => false, openMs: 5_800, overMs: 6_100 },
    { waits: 'others wait', doOthersWait: () => true, openMs: 2_300, overMs: 2_500 },
  ])('aborts before $overMs ms if $waits', ({ doOthersWait, openMs, overMs }) => {
    const { signal } = startDiagnosisTimer(doOthersWait, LIMITS);
    vi.advanceTimersByTime(openMs);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(overMs - openMs);
    expect(signal.aborted).toBe(true);
  });

  test('aborts soon after another job arrives', () => {
    let isBusy = false;
    const { signal } = startDiagnosisTimer(() => isBusy, LIMITS);
    vi.advanceTimersByTime(3_000);
    isBusy = true;
    vi.advanceTimersByTime(250);
    expect(signal.aborted).toBe(true);
  });

  test('leaves no timer after its end', () => {
    startDiagnosisTimer(() => false, LIMITS).end();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is three times as long if the settings will be used', () => {
    expect(diagnosisLimits(1_000, true)).toEqual({
      longestMs: 3_000,
      leastMs: 1_200,
      slowCompilationMs: 1_000 / 3,
    });
  });
});
