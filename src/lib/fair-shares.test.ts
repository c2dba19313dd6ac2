import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairShares, type Share } from './fair-shares.ts';

const LIMITS = { total: 12, perClient: 5 };
/** Of a few networks with a few clients each. */
const asking = fc.record({
  network: fc.nat(4),
  host: fc.integer({ min: 1, max: 3 }),
  amount: fc.integer({ min: 1, max: 2 }),
  leaves: fc.boolean(),
});

function sumOf(shares: Iterable<Share>, network?: string): number {
  let sum = 0;
  for (const share of shares) {
    if (network === undefined || share.network === network) sum += share.amount;
  }
  return sum;
}

describe('fair shares', () => {
  test('keep every bound, displace nobody who holds at most an equal part, and let newcomers in', () => {
    fc.assert(
      fc.property(fc.array(asking, { maxLength: 60 }), (askings) => {
        const shares = new FairShares(LIMITS);
        const held = new Set<Share>();
        for (const { network, host, amount, leaves } of askings) {
          const before = new Map<string, number>();
          for (const share of held) {
            before.set(share.network, (before.get(share.network) ?? 0) + share.amount);
          }
          const share: Share = shares.open(`11.0.${network}.${host}`, () => {
            held.delete(share);
          });
          const wasHeld = new Set(held);
          const granted = share.grow(amount);
          if (granted === 'granted') held.add(share);
          else expect(share.amount).toBe(0);
          const lost = [...wasHeld].filter((each) => !held.has(each));
          if (granted !== 'granted') expect(lost).toEqual([]);
          const networks = new Set([...before.keys(), share.network]).size;
          for (const loser of lost) {
            if (loser.network === share.network) continue;
            expect(before.get(loser.network)).toBeGreaterThan(LIMITS.total / networks);
          }
          const isNewcomer = !before.has(share.network);
          const others = [...before.values()];
          if (isNewcomer && amount === 1 && others.some((each) => each > 1)) {
            expect(granted).toBe('granted');
          }
          if (leaves) {
            share.release();
            held.delete(share);
          }
          expect(shares.total).toBe(sumOf(held));
          expect(shares.total).toBeLessThanOrEqual(LIMITS.total);
          for (const { network: each } of held) {
            expect(sumOf(held, each)).toBeLessThanOrEqual(LIMITS.perClient);
          }
          expect(shares.clients).toBe(new Set([...held].map(({ client }) => client)).size);
        }
      }),
    );
  });

  test('of two hundred addresses of one network are those of one client', () => {
    const shares = new FairShares({ total: 200, perClient: 50 });
    const attackers = Array.from({ length: 200 }, (_, index) =>
      shares.open(`192.0.2.${index}`, () => undefined).grow(1),
    );
    expect(attackers.filter((each) => each === 'granted')).toHaveLength(50);
    // A neighbour of whom held most still gets one.
    for (let more = 0; more < 3; more += 1) {
      shares.open('198.51.100.1', () => undefined).grow(1);
    }
    expect(shares.open('198.51.100.2', () => undefined).grow(1)).toBe('granted');
  });

  test('of a network go from its client that holds most to a neighbour who holds less', () => {
    const shares = new FairShares({ total: 10, perClient: 4 });
    const lost: number[] = [];
    for (let index = 0; index < 4; index += 1) {
      shares.open('192.0.2.1', () => lost.push(index)).grow(1);
    }
    expect(shares.open('192.0.2.1', () => undefined).grow(1)).toBe('client_full');
    expect(shares.open('192.0.2.2', () => undefined).grow(1)).toBe('granted');
    expect(lost).toEqual([3]);
  });

  test('stay where they are when a part of them would not be enough', () => {
    const shares = new FairShares({ total: 10, perClient: 6 });
    const lost: string[] = [];
    const hold = (client: string, amount: number): Share => {
      const share = shares.open(client, () => lost.push(client));
      expect(share.grow(amount)).toBe('granted');
      return share;
    };
    hold('203.0.113.1', 6);
    const first = hold('192.0.2.1', 3);
    const second = hold('192.0.2.1', 1);
    // Without the second there is room in the network, but not in all, where nobody holds more than it would.
    expect(shares.open('192.0.2.2', () => undefined).grow(3)).toBe('full');
    expect(lost).toEqual([]);
    expect([first.amount, second.amount, shares.total]).toEqual([3, 1, 10]);
    // What was put back is still the newest.
    expect(shares.open('192.0.2.2', () => undefined).grow(1)).toBe('granted');
    expect(lost).toEqual(['203.0.113.1']);
  });

  test('cut what is idle first, of the client with most of it, and else the newest', () => {
    const shares = new FairShares({ total: 5, perClient: Infinity });
    const lost: string[] = [];
    const idle = new Set(['b1', 'b2', 'c1']);
    for (const name of ['a1', 'b1', 'b2', 'c1', 'a2']) {
      const client = { a: '11.0.0.1', b: '11.0.0.2', c: '11.0.0.3' }[name[0]!]!;
      const share = shares.open(
        client,
        () => lost.push(name),
        () => idle.has(name),
      );
      expect(share.grow(1)).toBe('granted');
    }
    const newcomers = ['12.0.0.1', '13.0.0.1', '14.0.0.1', '15.0.0.1'];
    for (const newcomer of newcomers) shares.open(newcomer, () => undefined).grow(1);
    expect(lost).toEqual(['b2', 'c1', 'b1', 'a2']);
  });

  test('let a newcomer in where as many networks as there are holdings do nothing', () => {
    const shares = new FairShares({ total: 3, perClient: Infinity });
    const lost: string[] = [];
    const busy = new Set(['11.0.0.1']);
    const grow = (client: string): string =>
      shares
        .open(
          client,
          () => lost.push(client),
          () => !busy.has(client),
        )
        .grow(1);
    for (const client of ['11.0.0.1', '12.0.0.1', '13.0.0.1']) grow(client);
    expect(grow('14.0.0.1')).toBe('granted');
    expect(lost).toEqual(['12.0.0.1']);
    // A second one for a network that has its part takes nothing from others.
    expect(grow('14.0.0.2')).toBe('full');
    for (const client of ['13.0.0.1', '14.0.0.1']) busy.add(client);
    expect(grow('15.0.0.1')).toBe('full');
    expect(lost).toEqual(['12.0.0.1']);
  });
});
