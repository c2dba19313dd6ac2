import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FetchFault } from '../src/lib/fetch-fault.ts';
import { createGuardedFetch, type GuardedFetch } from '../src/lib/guarded-fetch.ts';
import { readCases } from './support/shared-data.ts';
import { startSocketServer, type WebServer } from './support/web-server.ts';

interface Spelling {
  /** `{port}` stands for the canary's port. */
  readonly url: string;
  readonly why: string;
  /** Addresses to which a name resolves. */
  readonly resolves?: readonly string[];
  /** The fault, if it is not address_not_allowed. */
  readonly code?: string;
}

const cases = readCases<Spelling>('ssrf.json');
const answer = (head: string): string => `HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`;

describe('a server that must never be reached', () => {
  let canary: WebServer;
  let redirector: WebServer;
  let guarded: GuardedFetch;
  let location = '';
  let status = 302;
  let resolves: readonly string[] = [];

  beforeAll(async () => {
    canary = await startSocketServer((socket) => socket.end(answer('200 OK')));
    // Raw bytes: a node:http listener would reject many of these locations.
    redirector = await startSocketServer((socket) => {
      socket.end(Buffer.from(answer(`${status} Found\r\nLocation: ${location}`), 'utf8'));
    });
    guarded = createGuardedFetch({
      allowPrivate: [redirector.hostPort],
      maxBytes: 1000,
      deadlineMs: 5000,
      maxRedirects: 3,
      userAgent: 'fullmatch-test',
      resolve: async () => resolves,
    });
  });

  afterAll(async () => {
    await guarded.close();
    await canary.close();
    await redirector.close();
  });

  async function codeOf(url: string): Promise<string> {
    try {
      return `answered ${(await guarded.fetch(url)).status}`;
    } catch (error) {
      return error instanceof FetchFault ? error.code : String(error);
    }
  }

  test('has at least 120 URL spellings in the table', () => {
    expect(new Set(cases.map(({ url }) => url)).size).toBeGreaterThanOrEqual(120);
  });

  test.each(cases)('rejects $url ($why)', async (spelling) => {
    // Any name that a text turns out to contain resolves to the canary's address.
    resolves = spelling.resolves ?? ['127.0.0.1'];
    const url = spelling.url.replaceAll('{port}', String(canary.port));
    expect(await codeOf(url)).toBe(spelling.code ?? 'address_not_allowed');
    expect(canary.connections()).toBe(0);
  });

  test.each(cases)('rejects a redirect to $url ($why)', async (spelling) => {
    resolves = spelling.resolves ?? ['127.0.0.1'];
    location = spelling.url.replaceAll('{port}', String(canary.port)).replaceAll(/[\t\n]/g, '');
    for (status of [301, 302, 303, 307, 308]) {
      // Some spellings are relative to a URL: those loop within the redirector itself.
      expect(await codeOf(redirector.url)).toMatch(/_not_allowed$|^too_many_redirects$/);
    }
    expect(canary.connections()).toBe(0);
  });

  test('is reached when the operator allows it, so the table can fail', async () => {
    const open = createGuardedFetch({
      allowPrivate: [canary.hostPort],
      maxBytes: 1000,
      deadlineMs: 5000,
      maxRedirects: 0,
      userAgent: 'fullmatch-test',
    });
    for (const spelling of ['127.0.0.1', '127.1', '0x7f000001', '2130706433', '①②⑦.0.0.1']) {
      expect((await open.fetch(`http://${spelling}:${canary.port}/`)).status).toBe(200);
    }
    await open.close();
    expect(canary.connections()).toBeGreaterThan(0);
  });
});
