// The buttons of a failed job: what they suggest, and what they change in the form and in the input.
import { describe, expect, test } from 'vitest';
import {
  changeFields,
  changeInput,
  describeInputChange,
  suggestChanges,
} from '../../web/src/verify/input-change.ts';
import { type JobFailure } from '../../web/src/verify/job-state.ts';
import { buildRequest, NO_SETTINGS, type VerifyFields } from '../../web/src/verify/verify-form.ts';

const [L, M] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];
const RUNS = { optimizer: { enabled: true, runs: 1_000 } };
const failureWith = (data: Readonly<Record<string, unknown>>): JobFailure => ({
  ...{ code: 'no_match', kind: 'no_match', message: '', id: '' },
  data,
});
const FIELDS: VerifyFields = {
  ...{ chain: '1', address: M, compilerVersion: '0.8.30', contract: 'a.sol:A', transaction: '' },
  ...NO_SETTINGS,
};

describe('the suggestions of a failed job', () => {
  test.each<[string, Readonly<Record<string, unknown>>, readonly unknown[]]>([
    [
      'the contract that matches',
      { diagnosis: { contract: 'src/A.sol:Vault' } },
      [{ label: 'Try with Vault', change: { contract: 'src/A.sol:Vault' } }],
    ],
    [
      'the settings that match',
      { diagnosis: { settings: 'as text', changes: RUNS } },
      [{ label: 'Try with the optimizer on (1,000 runs)', change: { settings: RUNS } }],
    ],
    [
      'another contract with other settings',
      { diagnosis: { contract: 'a.sol:A', settings: 'as text', changes: RUNS } },
      [
        {
          label: 'Try with A, and the optimizer on (1,000 runs)',
          change: { contract: 'a.sol:A', settings: RUNS },
        },
      ],
    ],
    [
      'the compiler on chain',
      { diagnosis: { compiler: { onChain: '0.8.37', used: '0.8.30' } } },
      [{ label: 'Try with 0.8.37', change: { settings: { compilerVersion: '0.8.37' } } }],
    ],
    [
      'the library addresses on chain',
      { libraries: [{ library: 'l.sol:L', given: M, onChain: L }] },
      [{ label: 'Try with the addresses on chain', change: { libraries: { 'l.sol:L': L } } }],
    ],
    [
      'the contracts that are equally close',
      { contracts: ['a.sol:A', 'a.sol:B'] },
      [
        { label: 'Try with A', change: { contract: 'a.sol:A' } },
        { label: 'Try with B', change: { contract: 'a.sol:B' } },
      ],
    ],
    ['none for a differing line', { diagnosis: { place: { path: 'a.sol', line: 1 } } }, []],
    ['none for jobs of earlier versions', { diagnosis: { settings: 'as text' } }, []],
  ])('are %s', (_what, data, suggestions) => {
    expect(suggestChanges(failureWith(data), 'standard_json')).toEqual(suggestions);
  });

  test('are none for metadata, which determines every setting', () => {
    expect(suggestChanges(failureWith({ diagnosis: { contract: 'a:A' } }), 'metadata')).toEqual([]);
  });
});

describe('a suggested change', () => {
  test('is made in the fields of plain sources', () => {
    const libraries = `L=${M}\nOther=${M}`;
    const changed = changeFields(
      { ...FIELDS, libraries },
      {
        contract: 'a.sol:B',
        settings: { ...RUNS, compilerVersion: '0.8.37', evmVersion: 'paris', viaIR: true },
        libraries: { 'l.sol:L': L },
      },
    );
    expect(changed).toMatchObject({
      ...{ contract: 'a.sol:B', compilerVersion: '0.8.37', optimizer: true, runs: '1000' },
      ...{ evmVersion: 'paris', viaIR: true, libraries: `Other=${M}\nl.sol:L=${L}` },
    });
  });

  test('is made in a standard JSON input, and nothing else in it changes', () => {
    const input = {
      language: 'Solidity',
      sources: { 'a.sol': { content: 'contract A {}' } },
      settings: {
        optimizer: { enabled: false, details: { cse: true } },
        libraries: { 'l.sol': { L: M, N: M }, 'm.sol': { M } },
        remappings: ['a=b'],
      },
    };
    expect(changeInput(input, { settings: RUNS, libraries: { 'l.sol:L': L } })).toEqual({
      ...input,
      settings: {
        optimizer: { ...RUNS.optimizer, details: { cse: true } },
        libraries: { 'l.sol': { L, N: M }, 'm.sol': { M } },
        remappings: ['a=b'],
      },
    });
    expect(changeInput(input)).toEqual(input);
  });

  test('is sent with the input', () => {
    const fields = changeFields(FIELDS, { settings: RUNS });
    const input = { language: 'Solidity', sources: {}, settings: {} };
    const { body } = buildRequest(fields, {
      kind: 'standard_json',
      input,
      contracts: [],
      roots: {},
    });
    expect(body).toMatchObject({ stdJsonInput: { settings: RUNS } });
  });

  test.each([
    [{ settings: RUNS }, 'the optimizer on (1,000 runs)'],
    [{ settings: { compilerVersion: '0.8.37' } }, undefined],
    [{ libraries: { 'l.sol:L': L } }, 'the library addresses on chain'],
    [{}, undefined],
  ])('%j of the input is described as %s', (change, words) => {
    expect(describeInputChange(change)).toBe(words);
  });
});
