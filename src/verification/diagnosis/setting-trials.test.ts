import { describe, expect, test } from 'vitest';
import { formatChanges, withChanges } from '../../solidity/setting-changes.ts';
import { type BothTraits, settingTrials } from './setting-trials.ts';

const NONE = { hasPush0: false, hasMcopy: false };
const PUSH0 = { hasPush0: true, hasMcopy: false };
const MCOPY = { hasPush0: true, hasMcopy: true };
const changesOf = (
  settings: Readonly<Record<string, unknown>>,
  version = '0.8.30',
  traits: BothTraits = { ours: NONE, theirs: NONE },
  language = 'solidity',
): readonly string[] =>
  settingTrials({ language, version, settings }, traits).map((changes) => formatChanges(changes));

describe('Setting trials', () => {
  test('keep the settings that they do not change', () => {
    const settings = { metadata: { appendCBOR: true }, optimizer: { enabled: true, details: {} } };
    for (const changes of settingTrials(
      { language: 'solidity', version: '0.8.30', settings },
      { ours: NONE, theirs: PUSH0 },
    )) {
      const tried = withChanges(settings, changes);
      expect(tried).not.toEqual(settings);
      expect(tried).toMatchObject({ metadata: { appendCBOR: true }, optimizer: { details: {} } });
    }
  });

  test('never include the submitted settings', () => {
    expect(changesOf({ optimizer: { enabled: true, runs: 1_000 } })).not.toContain(
      'optimizer.enabled: true, optimizer.runs: 1000',
    );
    expect(changesOf({ optimizer: { enabled: true } })).not.toContain(
      'optimizer.enabled: true, optimizer.runs: 200',
    );
    expect(changesOf({ viaIR: true })).toContain('viaIR: false');
    expect(changesOf({ evmVersion: 'paris' })).not.toContain('evmVersion: paris');
  });

  test('start with the optimizer if it was off, and with other runs if it was on', () => {
    expect(changesOf({})[0]).toBe('optimizer.enabled: true, optimizer.runs: 200');
    expect(changesOf({ optimizer: { enabled: true } })[0]).toBe(
      'optimizer.enabled: true, optimizer.runs: 1000',
    );
  });

  test('omit viaIR while it is experimental', () => {
    expect(changesOf({}, '0.8.12+commit.f00d7308')).not.toContain('viaIR: true');
    expect(changesOf({}, '0.8.13+commit.abaa5c0e')).toContain('viaIR: true');
    expect(changesOf({}, '0.10.1')).toContain('viaIR: true');
  });

  test('combine viaIR with the optimizer', () => {
    expect(changesOf({})).toContain('optimizer.enabled: true, optimizer.runs: 200, viaIR: true');
  });

  test('change the EVM version in every trial if only one bytecode has PUSH0', () => {
    const older = changesOf({}, '0.8.30', { ours: PUSH0, theirs: NONE });
    expect(older.slice(0, 2)).toEqual(['evmVersion: paris', 'evmVersion: london']);
    expect(older).toContain('optimizer.enabled: true, optimizer.runs: 200, evmVersion: paris');
    for (const change of older) expect(change).toMatch(/evmVersion: (?!shanghai|cancun|prague)/);
    const newer = changesOf({}, '0.8.30', { ours: NONE, theirs: PUSH0 });
    for (const change of newer) expect(change).toMatch(/evmVersion: (?!paris|london)/);
  });

  test('try the EVM versions of the compiler after its other settings', () => {
    const changes = changesOf({}, '0.8.21', { ours: NONE, theirs: NONE });
    expect(changes.indexOf('evmVersion: paris')).toBeGreaterThan(changes.indexOf('viaIR: true'));
    expect(changesOf({}, '0.8.10')).not.toContain('evmVersion: paris');
    expect(changesOf({}, '0.8.30', { ours: NONE, theirs: MCOPY })).not.toContain(
      'evmVersion: shanghai',
    );
  });

  test('are optimization modes and EVM versions for Vyper', () => {
    expect(changesOf({}, '0.4.0', { ours: PUSH0, theirs: PUSH0 }, 'vyper')).toEqual([
      ...['optimize: codesize', 'optimize: none'],
      ...['evmVersion: shanghai', 'evmVersion: cancun', 'evmVersion: prague', 'evmVersion: osaka'],
      ...['optimize: codesize, evmVersion: shanghai', 'optimize: codesize, evmVersion: cancun'],
    ]);
    const codesize = { optimize: 'codesize' };
    expect(changesOf(codesize, '0.4.0', { ours: NONE, theirs: NONE }, 'vyper')[0]).toBe(
      'optimize: gas',
    );
    expect(changesOf({}, '0.3.7', { ours: NONE, theirs: NONE }, 'vyper')[0]).toBe(
      'optimize: false',
    );
  });
});
