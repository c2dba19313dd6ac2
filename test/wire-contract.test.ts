import { describe, expect, test } from 'vitest';
import { answerFault, type WireAnswer } from './support/wire/answer-fault.ts';

const VERSION = { name: 'fullmatch', version: '1.2.3', node: '24.0.0', verify: 'open' };
const EVENT = `id: 1\nevent: registry\ndata: ${JSON.stringify({ sha256: 'a', chains: 1 })}\n\n`;

/** A correct response, except for the given changes. */
const faultOf = (body: unknown, changes: Partial<WireAnswer> = {}): string | undefined =>
  answerFault({
    host: 'api',
    method: 'GET',
    path: '/version',
    status: 200,
    type: 'application/json',
    text: JSON.stringify(body),
    ...changes,
  });

describe('response validation in tests', () => {
  test("accepts what the route's schema allows, below every prefix", () => {
    for (const path of ['/version', '/version/', '/server/version']) {
      expect(faultOf(VERSION, { path })).toBeUndefined();
    }
  });

  test.each<[string, unknown, Partial<WireAnswer>]>([
    ['an undeclared key', { ...VERSION, extra: 1 }, {}],
    ['a missing key', { ...VERSION, node: undefined }, {}],
    ['an undeclared status', VERSION, { status: 201 }],
    ['an undeclared media type', VERSION, { type: 'text/plain' }],
    ['a body at a path without a route', VERSION, { path: '/nothing' }],
    ['an error that is not a problem', { error: 'no' }, { status: 500 }],
    ['an API v1 error from API v2', { error: 'no' }, { path: '/v2/x', status: 404 }],
    [
      'an undeclared key deep in a document',
      [{ ...chain(), explorers: [{ x: 1 }] }],
      { path: '/chains' },
    ],
    ['an undeclared event', '', streamed(EVENT.replace('registry', 'other'))],
    ['an undeclared key of an event', '', streamed(EVENT.replace('"chains"', '"more":1,"chains"'))],
  ])('detects %s', (_what, body, changes) => {
    expect(faultOf(body, changes)).toEqual(expect.any(String));
  });

  test('accepts events and an incomplete last event', () => {
    const changes = streamed(`retry: 3000\n\n${EVENT}event: mat`);
    expect(faultOf('', changes)).toBeUndefined();
  });

  test('accepts a source named __proto__', () => {
    const text = `{"match":"match","chainId":"1","address":"0x1","sources":{"__proto__":{"content":""}}}`;
    const path = `/v2/contract/1/0x${'1'.repeat(40)}`;
    expect(faultOf('', { path, text })).toBeUndefined();
    expect(faultOf('', { path, text: text.replace('content', 'other') })).toBeDefined();
  });
});

function chain(): object {
  return { name: 'A', rpc: [], chainId: 1, supported: true, monitored: false };
}

function streamed(text: string): Partial<WireAnswer> {
  return { path: '/v1/events', type: 'text/event-stream', text };
}
