import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Head,
  updatePace,
  maxHeadAgeSeconds,
  type Pace,
  medianBlockSeconds,
} from './block-pace.ts';
import { assessHead, type TimedHead } from './judge-head.ts';

const START = 1_800_000_000;

/** Pace of a chain with these blocks. */
function paceOf(heads: readonly Head[]): Pace {
  return heads
    .slice(1)
    .reduce<Pace>((pace, head, index) => updatePace(pace, heads[index]!, head), []);
}

/** Heads of a chain with a block every few seconds. */
function steady(seconds: number, count: number): Head[] {
  return Array.from({ length: count }, (_, index) => ({
    number: 100 + index,
    timestamp: START + Math.round(index * seconds),
  }));
}

function seen(number: number, timestamp: number, seenAt: number): TimedHead {
  return { number, timestamp, seenAt: seenAt * 1000 };
}

describe('Pace of a chain', () => {
  test('is unknown from a few blocks and known from one long stretch', () => {
    expect(medianBlockSeconds(paceOf(steady(12, 10)))).toBeUndefined();
    expect(medianBlockSeconds(paceOf(steady(12, 30)))).toBe(12);
    const stretch = { number: 1_000_000, timestamp: START };
    const later = { number: 1_001_000, timestamp: START + 2000 };
    expect(medianBlockSeconds(updatePace([], stretch, later))).toBe(2);
  });

  test('is the usual pace despite a few gaps', () => {
    const heads = steady(12, 40).map(({ number, timestamp }) => ({
      number,
      timestamp: timestamp + (number > 120 ? 3600 : 0),
    }));
    expect(medianBlockSeconds(paceOf(heads))).toBe(12);
    expect(maxHeadAgeSeconds(paceOf(heads))).toBe(3 * 3612);
  });

  test('learns nothing from heads that go backwards', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), fc.nat(10_000), (number, back, seconds) => {
        const earlier = { number: number + back, timestamp: START };
        expect(updatePace([], earlier, { number, timestamp: START + seconds })).toEqual([]);
        const past = { number: number + back + 1, timestamp: START - seconds - 1 };
        expect(updatePace([], earlier, past)).toEqual([]);
      }),
    );
  });

  test('remembers a bounded number of blocks and follows a chain that speeds up', () => {
    const pace = [
      ...steady(12, 60),
      ...steady(1, 120).map((head) => ({
        ...head,
        number: head.number + 100,
        timestamp: head.timestamp + 3600,
      })),
    ];
    expect(paceOf(pace)).toHaveLength(50);
    expect(medianBlockSeconds(paceOf(pace))).toBe(1);
    expect(maxHeadAgeSeconds(paceOf(pace))).toBe(120);
  });
});

describe('Head', () => {
  const pace = paceOf(steady(12, 30));
  const onChain = { pace, local: false };

  test('lags if a peer had a much newer one earlier', () => {
    const head = seen(100, START, START + 200);
    const peer = seen(115, START + 180, START + 190);
    expect(assessHead(head, [peer], onChain)).toMatchObject({ verdict: 'lagging', lagBlocks: 15 });
  });

  test('does not lag behind a head that a peer reported later', () => {
    const head = seen(100, START, START + 10);
    const peer = seen(115, START + 180, START + 190);
    expect(assessHead(head, [peer], onChain)).toMatchObject({ verdict: 'good', lagBlocks: 0 });
  });

  test('may be a few blocks or a short time behind', () => {
    const blocks = assessHead(
      seen(100, START, START + 300),
      [seen(103, START + 290, START + 295)],
      {
        ...onChain,
        pace: [],
      },
    );
    expect(blocks).toMatchObject({ verdict: 'good', lagBlocks: 3 });
    const fast = assessHead(
      seen(100, START, START + 30),
      [seen(200, START + 25, START + 29)],
      onChain,
    );
    expect(fast).toMatchObject({ verdict: 'good', lagBlocks: 100 });
  });

  test('is stalled if too old for the pace, but never for a local chain', () => {
    const head = seen(100, START, START + 241);
    expect(assessHead(head, [], onChain)).toMatchObject({ verdict: 'stalled', ageSeconds: 241 });
    expect(assessHead(seen(100, START, START + 239), [], onChain).verdict).toBe('good');
    expect(assessHead(head, [], { pace: [], local: false }).verdict).toBe('good');
    expect(assessHead(head, [], { pace, local: true }).verdict).toBe('good');
  });

  test('from the future makes no peer lag and has no age', () => {
    const liar = seen(10 ** 9, START + 10 ** 6, START);
    expect(assessHead(seen(100, START, START + 5), [liar], onChain)).toMatchObject({
      verdict: 'good',
      lagBlocks: 0,
    });
    expect(assessHead(liar, [], onChain)).toEqual({
      verdict: 'good',
      lagBlocks: 0,
      inFuture: true,
    });
  });

  test('of the best endpoint never lags; others lag by the distance to it', () => {
    const peers = fc.array(fc.nat(500), { maxLength: 6 });
    fc.assert(
      fc.property(fc.nat(500), peers, (own, others) => {
        const at = (block: number, order: number): TimedHead =>
          seen(block, START + block * 12, START + 6100 + order);
        const judged = assessHead(at(own, 50), others.map(at), { pace: [], local: false });
        const best = Math.max(own, ...others);
        expect(judged.lagBlocks).toBe(best - own);
        expect(judged.verdict).toBe(best - own > 10 ? 'lagging' : 'good');
      }),
    );
  });
});
