import { describe, expect, it } from 'vitest';
import { AUXDATA_FORMS, assemble, type Segment } from '../../test/support/bytecode/made-up-code.ts';
import { judgeContract, type CodePair } from './judge-contract.ts';

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
  it.each([
    ['full', 'full', full, 'full', full],
    ['full', 'full', full, 'partial', partial],
    ['full', 'partial', partial, 'full', full],
    ['full', null, none, 'full', full],
    ['partial', 'partial', partial, null, none],
    [null, null, none, null, none],
  ])(
    'is %s with runtime %s and creation %s',
    (match, runtimeMatch, runtime, creationMatch, creation) => {
      expect(judgeContract({ address: ADDRESS, runtime, creation, abi: [] })).toMatchObject({
        match,
        runtimeMatch,
        creationMatch,
      });
    },
  );

  it('does not judge a code that is not known', () => {
    const judgement = judgeContract({ address: ADDRESS, runtime: full, abi: [] });
    expect(judgement).toMatchObject({ match: 'full', runtimeMatch: 'full', creationMatch: null });
    expect(judgement).not.toHaveProperty('creation');
    expect(judgeContract({ address: ADDRESS, abi: [] }).match).toBeNull();
  });

  it('finds the contract under its address in any case', () => {
    const address = ADDRESS.toUpperCase().replace('0X', '0x');
    expect(judgeContract({ address, runtime: full, abi: [] }).match).toBe('full');
  });

  it('lets a library have one address in both codes', () => {
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

  it('holds both codes to the configured address of a library', () => {
    const libraries = { 'a.sol': { Sums: ADDRESS } };
    const codes = pair([library, auxdata(true)], 'x');
    expect(
      judgeContract({ address: ADDRESS, runtime: codes, creation: codes, abi: [], libraries })
        .match,
    ).toBeNull();
  });
});
