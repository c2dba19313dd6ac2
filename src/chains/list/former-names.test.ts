import { describe, expect, test } from 'vitest';
import { chainListOf } from '../../../test/support/chain-sources.ts';
import { findChain } from '../registry/chain-reference.ts';
import { makeRegistry } from '../registry/load-registry.ts';

const options = { include: 'all', defaults: false, localChains: false } as const;
const records = [
  { chainId: 5, name: 'Five', shortName: 'five', rpc: [] },
  { chainId: 7, name: 'Seven', shortName: 'seven', rpc: [] },
];
const find = (ref: string, formerNames: ReadonlyMap<number, readonly string[]>): number =>
  findChain(makeRegistry({ ...chainListOf(records), formerNames }, options, new Map(), []), ref)
    .record.chainId;

describe('a former name', () => {
  test('finds the chain that had it, in any case', () => {
    expect(find('Old Seven', new Map([[7, ['Old Seven']]]))).toBe(7);
    expect(find('OLD SEVEN', new Map([[7, ['Old Seven']]]))).toBe(7);
  });

  test('finds nothing where another chain has it now', () => {
    expect(find('five', new Map([[7, ['five']]]))).toBe(5);
    expect(find('FIVE', new Map([[7, ['FIVE']]]))).toBe(5);
  });

  test('is ambiguous when two chains had it', () => {
    const names = new Map([
      [5, ['old']],
      [7, ['old']],
    ]);
    expect(() => find('old', names)).toThrow(
      expect.objectContaining({ code: 'ambiguous_chain_reference' }),
    );
  });

  test('of a chain that is no longer there finds nothing', () => {
    expect(() => find('gone', new Map([[9, ['gone']]]))).toThrow(
      expect.objectContaining({ code: 'chain_not_found' }),
    );
  });
});
