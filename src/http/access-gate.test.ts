import fc from 'fast-check';
import { type Context } from 'hono';
import { describe, expect, test } from 'vitest';
import { FullmatchError } from '../errors.ts';
import { Secret } from '../lib/secret.ts';
import { AccessGate, rateLimitHeaders, type VerifyAccess } from './access-gate.ts';
import { createClientOf } from './client-of.ts';

const TOKEN = '0123456789abcdef';
const tokens = [
  { name: 'ci', token: new Secret(TOKEN) },
  { name: 'me', token: new Secret('another-token-16') },
];

/** Returns a client's request with the parts that the gate reads. */
const request = (authorization?: string, askedFor = '192.0.2.1'): Context =>
  ({
    env: { askedFor },
    req: { header: (name: string) => (name === 'authorization' ? authorization : undefined) },
  }) as unknown as Context;

function gate(verify: VerifyAccess, verificationsPerHour = 0, now?: () => number): AccessGate {
  return new AccessGate({
    ...{ verify, tokens, verificationsPerHour, clientOf: createClientOf([]) },
    ...(now && { now }),
  });
}

/** Returns the error of a refusal, or undefined. */
function refusal(work: () => void): FullmatchError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof FullmatchError) return error;
    throw error;
  }
}

describe('Access to verification', () => {
  test.each([
    ['open', undefined, undefined, undefined],
    ['open', 'Bearer wrong', undefined, undefined],
    ['off', `Bearer ${TOKEN}`, undefined, 'verification_off'],
    ['token', undefined, undefined, 'token_required'],
    ['token', undefined, '', 'token_required'],
    ['token', `Basic ${TOKEN}`, undefined, 'token_required'],
    ['token', 'Bearer wrong', undefined, 'token_unknown'],
    ['token', undefined, 'wrong', 'token_unknown'],
    ['token', undefined, TOKEN, undefined],
    ['token', `Bearer ${TOKEN}`, undefined, undefined],
    ['token', `bearer  ${TOKEN}`, undefined, undefined],
  ] as const)(
    'verify mode %s with header %s and key %s: %s',
    (verify, authorization, key, code) => {
      const refused = refusal(() => gate(verify).admit(request(authorization), key));
      expect(refused?.code).toBe(code);
      expect(JSON.stringify(refused ?? {}) + String(refused)).not.toContain(TOKEN);
    },
  );

  test('accepts only the exact token', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from(TOKEN)), maxLength: 20 }),
        (text) => {
          const refused = refusal(() => gate('token').admit(request(`Bearer ${text}`)));
          expect(refused === undefined).toBe(text === TOKEN);
        },
      ),
    );
  });
});

describe('Hourly verification limit', () => {
  test('applies per client, counts a token separately and resets every hour', () => {
    let now = 0;
    const bounded = gate('open', 2, () => now);
    const ask = (authorization?: string, client?: string): string | undefined =>
      refusal(() => bounded.admit(request(authorization, client)))?.code;
    expect([ask(), ask(), ask()]).toEqual([undefined, undefined, 'too_many_verifications']);
    expect(ask(undefined, '192.0.2.2')).toBeUndefined();
    expect(ask(`Bearer ${TOKEN}`)).toBeUndefined();
    expect(ask('Bearer wrong')).toBe('too_many_verifications');
    now = 3_599_999;
    expect(ask()).toBe('too_many_verifications');
    now = 3_600_000;
    expect([ask(), ask(), ask()]).toEqual([undefined, undefined, 'too_many_verifications']);
  });

  test('reports the limit and the wait in the headers of the refusal', () => {
    let now = 0;
    const bounded = gate('open', 1, () => now);
    bounded.admit(request());
    now = 600_000;
    const refused = refusal(() => bounded.admit(request()));
    expect(refused?.details['retryAfterSeconds']).toBe(3000);
    expect(rateLimitHeaders(refused?.details ?? {})).toEqual({
      'ratelimit-policy': '"verifications";q=1;w=3600',
      ratelimit: '"verifications";r=0;t=3000',
    });
    expect(rateLimitHeaders({})).toEqual({});
  });

  test('admits fewer than twice the limit in any hour', () => {
    const asked = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 1_000_000 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(asked, (requests) => {
        let now = 0;
        const bounded = gate('open', 3, () => now);
        const begun = new Map<number, number[]>();
        for (const [client, later] of requests) {
          now += later;
          const refused = refusal(() => bounded.admit(request(undefined, `192.0.2.${client}`)));
          if (refused !== undefined) continue;
          const times = begun.get(client) ?? [];
          begun.set(client, [...times, now]);
          // A window starts with its first request, so any two consecutive windows allow at most twice the
          // limit.
          expect(times.filter((time) => time > now - 3_600_000).length).toBeLessThan(6);
        }
      }),
    );
  });
});
