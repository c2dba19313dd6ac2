import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type FrameEvent } from '../../chains/rpc/create-frames.ts';
import { type Hex } from '../../lib/hex.ts';
import { findBlockContracts, hashCode, mayHaveInternalCreations } from './block-creations.ts';
import { findFork } from './roll-back.ts';

const hashOf = (number: number): Hex => `0x${(number * 1000).toString(16).padStart(64, '0')}`;
const addressOf = (number: number): Hex => `0x${number.toString(16).padStart(40, '0')}`;

describe('Fork point of a reorganization', () => {
  test('is the newest stored block still on the chain, found with few requests', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(500), fc.nat(500), async (kept, standing) => {
        const blocks = Array.from({ length: kept }, (_, index) => kept - index);
        let questions = 0;
        const fork = await findFork(blocks, async (number) => {
          questions += 1;
          return number <= standing;
        });
        const expected = Math.min(kept, standing);
        expect(fork).toBe(expected === 0 ? undefined : expected);
        expect(questions).toBeLessThanOrEqual(4 + 10);
      }),
    );
  });
});

describe('Contracts of a block', () => {
  const SENDER = addressOf(1);
  const CODE = Buffer.from('6001', 'hex');
  const facts = (index: number, rest = {}): Parameters<typeof findBlockContracts>[0][number] => ({
    ...{ transactionHash: hashOf(index), sender: SENDER, hasFailed: false, gasUsed: 100_000 },
    ...rest,
  });
  const created = (
    address: Hex,
    runtimeCode: Buffer | undefined = CODE,
    isRoot = false,
  ): FrameEvent => ({
    kind: 'created',
    address,
    isRoot,
    read: () => ({
      ...{ deployer: addressOf(9), creationCode: CODE },
      ...(runtimeCode && { runtimeCode }),
    }),
  });
  const trace = (index: number, ...events: FrameEvent[]) => ({
    transactionHash: hashOf(index),
    events,
  });

  test('come from traces with their factory, and from transactions without one', () => {
    const [made, within] = [addressOf(50), addressOf(51)];
    const { found, isTraced } = findBlockContracts(
      [facts(0, { contractAddress: made }), facts(1)],
      [trace(0, created(made, CODE, true)), trace(1, created(within))],
    );
    expect(isTraced).toBe(true);
    expect(found).toMatchObject([
      { address: made, transactionIndex: 0, codeHash: hashCode(CODE), isOpen: false },
      { address: within, transactionIndex: 1, factory: addressOf(9) },
    ]);
    expect(found[0]?.factory).toBeUndefined();
  });

  test('exclude creations without code, delegations and contracts destroyed at once', () => {
    const [none, delegation, ended] = [addressOf(60), addressOf(61), addressOf(62)];
    const designator = Buffer.from(`ef0100${'11'.repeat(20)}`, 'hex');
    const events = [
      created(none, Buffer.alloc(0)),
      created(delegation, designator),
      created(ended),
      { kind: 'destroyed', address: ended } as const,
    ];
    expect(findBlockContracts([facts(0)], [trace(0, ...events)]).found).toEqual([]);
  });

  test('are listed once with their last creation, and open if destroyed later', () => {
    const again = addressOf(70);
    const destroyed = { kind: 'destroyed', address: again } as const;
    const two = [facts(0), facts(1)];
    const ended = findBlockContracts(two, [trace(0, created(again)), trace(1, destroyed)]);
    expect(ended.found).toMatchObject([{ transactionIndex: 0, isOpen: true }]);
    const three = [...two, facts(2)];
    const anew = findBlockContracts(three, [
      trace(0, created(again)),
      trace(1, destroyed),
      trace(2, created(again)),
    ]);
    expect(anew.found).toMatchObject([{ transactionIndex: 2, isOpen: false }]);
  });

  test('are incomplete if a transaction that may have created some lacks a trace', () => {
    expect(findBlockContracts([facts(0)], undefined).isTraced).toBe(false);
    expect(findBlockContracts([facts(0, { gasUsed: 21_000 })], undefined).isTraced).toBe(true);
    expect(findBlockContracts([facts(0, { hasFailed: true })], undefined).isTraced).toBe(true);
    expect(mayHaveInternalCreations(facts(0, { gasUsed: undefined }))).toBe(true);
    const broken: FrameEvent = {
      ...{ kind: 'created', address: addressOf(80), isRoot: false },
      read: () => z.never().parse(0),
    };
    const read = findBlockContracts([facts(0)], [trace(0, broken)]);
    expect(read).toEqual({ found: [], isTraced: false });
  });

  test('exclude the zero address of a transaction', () => {
    const nobody: Hex = `0x${'00'.repeat(20)}`;
    expect(findBlockContracts([facts(0, { contractAddress: nobody })], []).found).toEqual([]);
  });
});
