import { describe, expect, test } from 'vitest';
import { settingTrials } from './setting-trials.ts';

const NONE = { hasPush0: false, hasMcopy: false };
const PUSH0 = { hasPush0: true, hasMcopy: false };
const changesOf = (
  settings: Readonly<Record<string, unknown>>,
  version = '0.8.30',
  traits = { ours: NONE, theirs: NONE },
): readonly string[] => settingTrials(settings, version, traits).map(({ change }) => change);

describe('Setting trials', () => {
  test('change one setting each and keep all others', () => {
    const settings = { evmVersion: 'london', optimizer: { enabled: true, runs: 7, details: {} } };
    for (const { settings: tried } of settingTrials(settings, '0.8.30', {
      ours: NONE,
      theirs: NONE,
    })) {
      expect(tried).not.toEqual(settings);
      expect(tried).toMatchObject({ evmVersion: 'london', optimizer: { details: {} } });
    }
  });

  test('never include the submitted settings', () => {
    expect(changesOf({ optimizer: { enabled: true, runs: 1_000 } })).not.toContain(
      'optimizer.runs: 1000',
    );
    expect(changesOf({ optimizer: { enabled: true } })).not.toContain('optimizer.runs: 200');
    expect(changesOf({ viaIR: true })).toContain('viaIR: false');
  });

  test('start with the optimizer if it was off, and with other runs if it was on', () => {
    expect(changesOf({})[0]).toBe('optimizer.enabled: true, optimizer.runs: 200');
    expect(changesOf({ optimizer: { enabled: true } })[0]).toBe('optimizer.runs: 1000');
  });

  test('omit viaIR while it is experimental', () => {
    expect(changesOf({}, '0.8.12+commit.f00d7308')).not.toContain('viaIR: true');
    expect(changesOf({}, '0.8.13+commit.abaa5c0e')).toContain('viaIR: true');
    expect(changesOf({}, '0.10.1')).toContain('viaIR: true');
  });

  test('include EVM versions only if the bytecodes indicate a different one', () => {
    const isEvm = (change: string): boolean => change.startsWith('evmVersion');
    expect(changesOf({}, '0.8.30', { ours: PUSH0, theirs: NONE }).filter(isEvm)).toEqual([
      'evmVersion: paris',
      'evmVersion: london',
    ]);
    expect(changesOf({}, '0.8.30', { ours: PUSH0, theirs: PUSH0 }).some(isEvm)).toBe(false);
  });
});
