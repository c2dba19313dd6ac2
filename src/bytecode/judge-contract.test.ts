import { describe, expect, test } from 'vitest';
import { AUXDATA_FORMS, assemble, type Segment } from '../../test/support/bytecode/made-up-code.ts';
import { type ImmutableType } from './immutable-type.ts';
import { judgeContract, type CodePair } from './judge-contract.ts';
import { type RecompiledCode } from './recompiled-code.ts';

const ADDRESS = '0x00000000000000000000000000000000000000aa';
const auxdata = (isSame: boolean): Segment => ({
  kind: 'auxdata',
  form: Object.keys(AUXDATA_FORMS)[0] ?? '',
  hash: 'aa'.repeat(32),
  onChainHash: isSame ? 'aa'.repeat(32) : 'bb'.repeat(32),
});
const library: Segment = { kind: 'library', id: 'a.sol:Sums' };

function pair(segments: readonly Segment[], seed = ''): CodePair {
  return assemble(segments, 'hash', seed);
}

const full = pair([{ kind: 'code', hex: '6001' }, auxdata(true)]);
const partial = pair([{ kind: 'code', hex: '6001' }, auxdata(false)]);
const none: CodePair = { ...full, onChain: Buffer.from('6001', 'hex') };

describe('judgeContract', () => {
  test.each([
    ['full', 'full', full, 'full', full],
    ['full', 'full', full, 'partial', partial],
    ['full', 'partial', partial, 'full', full],
    [null, null, none, null, full],
    ['partial', 'partial', partial, null, none],
    [null, null, none, null, none],
  ])(
    'returns %s for runtime %s and creation %s',
    (match, runtimeMatch, runtime, creationMatch, creation) => {
      expect(judgeContract({ address: ADDRESS, runtime, creation, abi: [] })).toMatchObject({
        match,
        runtimeMatch,
        creationMatch,
      });
    },
  );

  test('returns no match for unknown bytecode', () => {
    const judgement = judgeContract({ address: ADDRESS, runtime: full, abi: [] });
    expect(judgement).toMatchObject({ match: 'full', runtimeMatch: 'full', creationMatch: null });
    expect(judgement).not.toHaveProperty('creation');
    expect(judgeContract({ address: ADDRESS, abi: [] }).match).toBeNull();
  });

  test("accepts the contract's address in any case", () => {
    const address = ADDRESS.toUpperCase().replace('0X', '0x');
    expect(judgeContract({ address, runtime: full, abi: [] }).match).toBe('full');
  });

  test('requires one library address in both runtime and creation bytecode', () => {
    const judge = (seed: string) =>
      judgeContract({
        address: ADDRESS,
        runtime: pair([library, auxdata(true)], 'x'),
        creation: pair([library, library, auxdata(true)], seed),
        abi: [],
      });
    expect(judge('x')).toMatchObject({ runtimeMatch: 'full', creationMatch: 'full' });
    expect(judge('y')).toMatchObject({
      runtimeMatch: 'full',
      creationMatch: null,
      creation: { within: 'library', id: 'a.sol:Sums', firstDifference: 0 },
    });
  });

  test('requires the configured library address in both', () => {
    const libraries = { 'a.sol': { Sums: ADDRESS } };
    const codes = pair([library, auxdata(true)], 'x');
    expect(
      judgeContract({ address: ADDRESS, runtime: codes, creation: codes, abi: [], libraries })
        .match,
    ).toBeNull();
  });

  test('reports a matching creation next to mismatching runtime bytecode', () => {
    const judgement = judgeContract({ address: ADDRESS, runtime: none, creation: full, abi: [] });
    expect(judgement).toMatchObject({
      match: null,
      creationMatch: null,
      creation: { match: 'full' },
    });
  });

  describe('Immutable', () => {
    const compile = (type?: ImmutableType): RecompiledCode => ({
      ...assemble([{ kind: 'immutable', id: '7' }], 'hash', '').recompiled,
      immutableTypes: type === undefined ? {} : { '7': type },
    });
    const judge = (type: ImmutableType | undefined, word: string, creation?: CodePair) =>
      judgeContract({
        address: ADDRESS,
        runtime: { recompiled: compile(type), onChain: Buffer.from(word, 'hex') },
        ...(creation && { creation }),
        abi: [],
      });
    const word = '2a'.padStart(64, '0');

    test('matches without its creation if its type allows the value', () => {
      const judgement = judge({ kind: 'unsigned', bits: 8 }, word);
      expect(judgement).toMatchObject({ runtimeMatch: 'partial', creationMatch: null });
    });

    test.each([
      ['without its creation', undefined],
      ['with another creation', none],
    ])('does not match if its type does not allow the value, %s', (_how, creation) => {
      expect(judge({ kind: 'below', bound: 2 }, word, creation)).toMatchObject({
        match: null,
        runtime: { reason: 'immutable_out_of_range', within: 'immutable', id: '7' },
      });
    });

    test('may have any value if its creation matches', () => {
      const judgement = judge({ kind: 'below', bound: 2 }, word, full);
      expect(judgement).toMatchObject({ match: 'full', runtimeMatch: 'partial' });
    });

    test.each([
      ['an internal function', { kind: 'code_pointer' } as const],
      ['of a type that is not known', undefined],
    ])('that is %s requires a matching creation', (_what, type) => {
      const refused = { match: null, runtime: { reason: 'immutable_not_proven', id: '7' } };
      expect(judge(type, word)).toMatchObject(refused);
      expect(judge(type, word, none)).toMatchObject(refused);
      expect(judge(type, word, full)).toMatchObject({ match: 'full', runtimeMatch: 'partial' });
    });
  });

  test.each([
    ['solidity', '0.4.26+commit.4563c3fc', 'full'],
    ['solidity', '0.5.0+commit.1d4f565a', null],
    ['vyper', '0.3.10+commit.91361694', null],
  ])('treats missing constructor arguments as zeros: %s %s', (language, version, creationMatch) => {
    const abi = [{ type: 'constructor', inputs: [{ type: 'uint256' }, { type: 'address' }] }];
    const first = Buffer.concat([full.onChain, Buffer.from('7'.padStart(64, '0'), 'hex')]);
    for (const onChain of [full.onChain, first]) {
      const judgement = judgeContract({
        ...{ address: ADDRESS, runtime: full, creation: { ...full, onChain } },
        ...{ abi, compiler: { language, version } },
      });
      expect(judgement).toMatchObject({ runtimeMatch: 'full', creationMatch });
    }
  });

  test.each(['00'.repeat(20), '01'.padStart(40, '0'), 'ffff'.padStart(40, '0')])(
    'rejects a library at 0x%s',
    (address) => {
      const code = assemble([library], 'hash', '');
      const onChain = Buffer.from(address, 'hex');
      const reserved = { ...code, onChain };
      const known = { ...code, onChain: Buffer.from('010000'.padStart(40, '0'), 'hex') };
      const judge = (runtime: CodePair) => judgeContract({ address: ADDRESS, runtime, abi: [] });
      expect(judge(reserved)).toMatchObject({
        match: null,
        runtime: { reason: 'library_not_deployed', within: 'library', id: 'a.sol:Sums' },
      });
      expect(judge(known).match).toBe('partial');
    },
  );
});
