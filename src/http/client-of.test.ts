import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test, vi } from 'vitest';
import { createClientOf, parseTrustedProxies } from './client-of.ts';

interface ForwardedCase {
  readonly title: string;
  readonly trusted: readonly string[];
  readonly connection: string;
  readonly 'x-forwarded-for'?: string;
  readonly forwarded?: string;
  readonly client: string;
}

const CASES = JSON.parse(
  readFileSync(new URL('../../test/cases/forwarded.json', import.meta.url), 'utf8'),
) as readonly ForwardedCase[];

const envOf = (remoteAddress: string | undefined, headers: object): unknown => ({
  incoming: { socket: { remoteAddress }, headers },
});

describe('Client of a request', () => {
  test.each(CASES)('$title', ({ trusted, connection, client, title, ...headers }) => {
    const clientOf = createClientOf(parseTrustedProxies(trusted));
    expect(clientOf({ env: envOf(connection, headers) }), title).toBe(client);
  });

  test('is unknown without a connection', () => {
    const clientOf = createClientOf([]);
    expect(clientOf({ env: undefined })).toBe('unknown');
    expect(clientOf({ env: envOf(undefined, {}) })).toBe('unknown');
  });

  test('is the proxy if the header is longer than proxies write', () => {
    const clientOf = createClientOf(parseTrustedProxies(['10.0.0.0/8']));
    const hops = (count: number): string =>
      Array.from({ length: count }, () => '192.0.2.1').join(',');
    const nameFor = (header: string): string =>
      clientOf({ env: envOf('10.0.0.1', { 'x-forwarded-for': header }) });
    expect(nameFor(hops(100))).toBe('192.0.2.1');
    expect(nameFor(hops(1_000))).toBe('10.0.0.1');
  });

  test('is parsed once per request', () => {
    const clientOf = createClientOf(parseTrustedProxies(['10.0.0.0/8']));
    let readings = 0;
    const headers = {
      get forwarded() {
        readings += 1;
        return 'for=192.0.2.1';
      },
    };
    const env = envOf('10.0.0.1', headers);
    for (let asked = 0; asked < 3; asked += 1) expect(clientOf({ env })).toBe('192.0.2.1');
    expect(readings).toBe(1);
  });

  test('never throws and parses a bounded number of addresses for any header', () => {
    const clientOf = createClientOf(parseTrustedProxies(['10.0.0.0/8']));
    const part = fc.constantFrom('for=', '"', '\\', ',', ';', '[', ']', ':', ' ', '10.0.0.1', '=');
    const header = fc.array(part, { maxLength: 4000 }).map((parts) => parts.join(''));
    const read = vi.spyOn(ipaddr.IPv6, 'isValid');
    fc.assert(
      fc.property(header, header, (forwarded, other) => {
        read.mockClear();
        const name = clientOf({ env: envOf('10.0.0.1', { forwarded, 'x-forwarded-for': other }) });
        expect(name.length).toBeLessThan(50);
        // The connection, plus a hundred hops of either header.
        expect(read.mock.calls.length).toBeLessThanOrEqual(201);
      }),
      { numRuns: 100 },
    );
    read.mockRestore();
  });
});
