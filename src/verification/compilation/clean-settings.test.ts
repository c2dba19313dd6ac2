import { describe, expect, test } from 'vitest';
import { cleanSettings } from './clean-settings.ts';

const ADDRESS = `0x${'11'.repeat(20)}`;

function codeOf(settings: Record<string, unknown>, version: string): unknown {
  try {
    cleanSettings(settings, version);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

describe('cleanSettings', () => {
  test.each(['0.4.11', '0.4.26', '0.5.17', '0.8.37'])(
    'drops settings that do not affect bytecode, whatever their values (%s)',
    (version) => {
      const settings = {
        optimizer: { enabled: true, runs: 200 },
        libraries: { 'a.sol': { Sums: ADDRESS }, AUDITED: {} },
        outputSelection: { AUDITED: 1 },
        modelChecker: { engine: 'chc', contracts: { AUDITED: [] } },
        modelCheckerSettings: 'AUDITED',
        parserErrorRecovery: true,
        compilationTarget: { AUDITED: 'A' },
      };
      expect(cleanSettings(settings, version)).toEqual({
        optimizer: { enabled: true, runs: 200 },
        libraries: { 'a.sol': { Sums: ADDRESS } },
      });
    },
  );

  test('drops debugInfo and keeps revertStrings', () => {
    const debug = { revertStrings: 'strip', debugInfo: ['AUDITED'] };
    expect(cleanSettings({ debug }, '0.8.37')).toEqual({ debug: { revertStrings: 'strip' } });
  });

  test.each([
    [{ auditedBy: 'x' }],
    [{ optimizer: { auditedBy: 'x' } }],
    [{ metadata: { auditedBy: 'x' } }],
    [{ ['__proto__']: 'x' }],
    [{ constructor: 'x' }],
    [{ stopAfter: 'parsing' }],
  ])('rejects settings that 0.4.26 would ignore: %j', (settings) => {
    expect(codeOf(settings, '0.4.26')).toBe('unsupported_setting');
  });

  describe('for Solar, which ignores unknown settings,', () => {
    const SOLAR = '0.8.38+commit.275d15ec.solar.0.3.0';

    test('keeps supported settings and drops those only solc supports', () => {
      const read = {
        remappings: ['a/=b/'],
        libraries: { 'a.sol': { Sums: ADDRESS } },
        evmVersion: 'cancun',
        metadata: { bytecodeHash: 'ipfs', appendCBOR: true, useLiteralContent: false },
        debug: { revertStrings: 'strip' },
      };
      const optimizer = { enabled: true, runs: 200 };
      const details = { yul: true, AUDITED: 'x' };
      const other = { viaIR: true, viaSSACFG: false, eofVersion: 1, outputSelection: {} };
      const given = { ...read, ...other, optimizer: { ...optimizer, details } };
      expect(cleanSettings(given, SOLAR)).toEqual({ ...read, optimizer });
    });

    test.each([
      [{ auditedBy: 'x' }, 'unsupported_setting'],
      [{ metadata: { auditedBy: 'x' } }, 'unsupported_setting'],
      [{ solar: { unstable: ['audited'] } }, 'unsupported_setting'],
      [{ stopAfter: 'parsing' }, 'unsupported_setting'],
      [{ evmVersion: 'audited by x' }, 'invalid_compiler_input'],
      [{ debug: { revertStrings: 'audited' } }, 'invalid_compiler_input'],
    ])('rejects %j', (settings, code) => {
      expect(codeOf(settings, SOLAR)).toBe(code);
    });
  });

  test('passes unknown settings on to compilers that reject them', () => {
    expect(cleanSettings({ toCome: 1 }, '0.9.1')).toEqual({ toCome: 1 });
    expect(codeOf({ stopAfter: 'parsing' }, '0.8.37')).toBe('unsupported_setting');
  });

  test.each([
    [{ remappings: ['audited'] }],
    [{ remappings: { a: 'audited' } }],
    [{ libraries: { 'a.sol': { Sums: 'audited' } } }],
    [{ libraries: { 'a.sol': { Sums: null } } }],
    [{ optimizer: 'audited' }],
    [{ optimizer: { runs: 'audited' } }],
    [{ evmVersion: 'audited' }],
    [{ metadata: { useLiteralContent: 'audited' } }],
  ])('rejects a value that 0.4.26 does not accept: %j', (settings) => {
    expect(codeOf(settings, '0.4.26')).toBe('invalid_compiler_input');
  });

  test('drops null and settings of newer versions', () => {
    const settings = {
      evmVersion: 'audited',
      viaIR: true,
      debug: { revertStrings: 'audited' },
      metadata: { useLiteralContent: true, bytecodeHash: 'audited' },
      optimizer: { enabled: false, details: { yul: 'audited' } },
      libraries: null,
      remappings: ['ctx:@a/=lib/a/', 'b=c'],
    };
    expect(cleanSettings(settings, '0.4.11')).toEqual({
      metadata: { useLiteralContent: true },
      optimizer: { enabled: false },
      remappings: ['ctx:@a/=lib/a/', 'b=c'],
    });
  });
});
