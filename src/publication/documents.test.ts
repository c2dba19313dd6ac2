import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';

import { silentLogger } from '../log.ts';
import { Documents, type DocumentContent, type PublishedDocuments } from './documents.ts';

const opened: Documents[] = [];
afterEach(async () => {
  for (const documents of opened.splice(0)) await documents.close();
});

function open(brotliDelayMs = 0): Documents {
  const documents = new Documents(silentLogger, { brotliDelayMs });
  opened.push(documents);
  return documents;
}

/** Documents whose delay before br bodies ends when the test decides. */
function openPaused(): { documents: Documents; pauses: (() => void)[] } {
  const pauses: (() => void)[] = [];
  const pause = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      pauses.push(resolve);
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const documents = new Documents(silentLogger, { pause });
  opened.push(documents);
  return { documents, pauses };
}

const content = (text: string, time = 0): DocumentContent => ({
  bytes: Buffer.from(text),
  lastModified: new Date(time),
});
const textOf = ({ chains, statistics }: PublishedDocuments): string =>
  `${chains?.bodies.identity.toString() ?? '-'} ${statistics?.bodies.identity.toString() ?? '-'}`;

describe('Published documents', () => {
  test('are independently absent before their first publication', async () => {
    const documents = open();
    expect(textOf(documents.current)).toBe('- -');
    await documents.publish({ chains: content('[]') });
    expect(textOf(documents.current)).toBe('[] -');
    await documents.publish({ statistics: content('{}') });
    expect(textOf(documents.current)).toBe('[] {}');
  });

  test('stay identical, including Last-Modified, when equal bytes are published', async () => {
    const documents = open(10_000);
    await documents.publish({ chains: content('[]', 1), statistics: content('{}', 1) });
    const before = documents.current;
    await documents.publish({ chains: content('[]', 2), statistics: content('{}', 2) });
    expect(documents.current.chains).toBe(before.chains);
    expect(documents.current.statistics?.lastModified).toEqual(new Date(1));
    expect(documents.swaps).toEqual({ chains: 1, statistics: 1 });
  });

  test('are swapped together: no reader sees one old and one new', async () => {
    const documents = open();
    const seen = new Set<string>();
    let running = true;
    const reader = (async () => {
      while (running) {
        seen.add(textOf(documents.current));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let version = 0; version < 100; version += 1) {
      await documents.publish({
        chains: content(String(version), version),
        statistics: content(String(version), version),
      });
      seen.add(textOf(documents.current));
    }
    running = false;
    await reader;
    seen.delete('- -');
    expect(seen.size).toBeGreaterThan(50);
    for (const pair of seen) expect(pair).toMatch(/^(\d+) \1$/);
  });

  test('are at least as new as a publication once it resolves', async () => {
    const documents = open();
    let newest = 0;
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const version = index + 1;
        newest = version;
        await documents.publish({ statistics: content(String(version), version) });
        const shown = Number(documents.current.statistics?.bodies.identity.toString());
        expect(shown).toBeGreaterThanOrEqual(version);
        expect(shown).toBeLessThanOrEqual(newest);
      }),
    );
    expect(documents.current.statistics?.bodies.identity.toString()).toBe('50');
  });

  test('get a br body for current content only, and eventually for both', async () => {
    const documents = open();
    await documents.publish({ chains: content('[1]'), statistics: content('{"1":1}') });
    await documents.publish({ statistics: content('{"1":2}') });
    expect(documents.current.statistics?.bodies.br).toBeUndefined();
    await expect
      .poll(
        () =>
          documents.current.chains?.bodies.br !== undefined &&
          documents.current.statistics?.bodies.br,
      )
      .toBeTruthy();
    const { chains, statistics } = documents.current;
    expect(brotliDecompressSync(chains!.bodies.br!).toString()).toBe('[1]');
    expect(brotliDecompressSync(statistics!.bodies.br!).toString()).toBe('{"1":2}');
  });

  test('get no br body while changing, but the other document does', async () => {
    const { documents, pauses } = openPaused();
    await documents.publish({ chains: content('[]'), statistics: content('0') });
    for (let version = 1; version <= 5; version += 1) {
      await documents.publish({ statistics: content(String(version)) });
      pauses.at(-1)?.();
      await expect.poll(() => pauses.length).toBe(version + 1);
      expect(documents.current.statistics?.bodies.br).toBeUndefined();
    }
    expect(documents.current.chains?.bodies.br).toBeDefined();
  });

  test('get br bodies again after earlier ones completed', async () => {
    const documents = open();
    for (const text of ['1', '2']) {
      await documents.publish({ statistics: content(text) });
      await documents.publish({ statistics: content(text) });
      await expect.poll(() => documents.current.statistics?.bodies.br).toBeDefined();
    }
  });

  test('remain readable after close', async () => {
    const documents = open(10_000);
    await documents.publish({ chains: content('[]') });
    await documents.close();
    expect(textOf(documents.current)).toBe('[] -');
  });

  test('abort pending br compression on close', async () => {
    const { documents, pauses } = openPaused();
    const many = Array.from({ length: 60_000 }, (_, index) => `${index * 7919}:${index % 89}`);
    await documents.publish({ chains: content(JSON.stringify(many)) });
    pauses.at(-1)?.();
    // The work, which takes seconds, starts in this turn of the event loop.
    await nextTurn();
    await documents.close();
    expect(documents.current.chains?.bodies.br).toBeUndefined();
    await documents.publish({ chains: content('[]') });
    expect(textOf(documents.current)).toBe('[] -');
  });
});
