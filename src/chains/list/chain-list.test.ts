import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NO_SHARED_DATA, readCases, sharedData } from '../../../test/support/shared-data.ts';
import { parseChainList, readEmbeddedList, readListFile } from './chain-list.ts';
import { judgeRpc } from '../registry/public-rpc.ts';

interface Case {
  readonly title: string;
  readonly record: unknown;
  readonly reads?: unknown;
  readonly fault?: string;
}

const GOOD = { name: 'Good', chainId: 99, rpc: [] };
const cases = readCases<Case>('list-records.json');
const lists = ['public-chain-list.json', 'hard-chains.json'].map((name) => ({
  name,
  records: sharedData(name) as readonly Record<string, unknown>[] | undefined,
}));

describe('parseChainList', () => {
  test.each(cases.filter(({ fault }) => fault === undefined))(
    'reads a record: $title',
    ({ record, reads }) => {
      const list = parseChainList(JSON.stringify([record]), 'test');
      expect(list.quarantined).toEqual([]);
      // Equal bytes in equal order, not only equal values.
      expect(JSON.stringify(list.records)).toBe(JSON.stringify([reads]));
    },
  );

  test.each(cases.filter(({ fault }) => fault !== undefined))(
    'quarantines a record and keeps the rest: $title',
    ({ record, fault }) => {
      const list = parseChainList(JSON.stringify([record, GOOD]), 'test');
      expect(list.records).toEqual([GOOD]);
      expect(list.quarantined).toHaveLength(1);
      expect(list.quarantined[0]).toMatchObject({ code: 'list_record_quarantined' });
      expect(list.quarantined[0]?.message).toContain(`skipped: ${fault}`);
    },
  );

  test.each([
    ['too many records', JSON.stringify(Array.from({ length: 10_001 }, () => ({})))],
    ['too many values', `[{"chainId":1,"name":"A","rpc":[${'0,'.repeat(150_000)}0]}]`],
    ['no JSON', 'name: Good'],
    ['a list that was cut off', JSON.stringify([GOOD]).slice(0, -4)],
    ['an empty text', ''],
    ['an object', JSON.stringify({ 1: GOOD })],
    ['null', 'null'],
    ['an empty array', '[]'],
    ['an id that occurs twice', JSON.stringify([GOOD, { ...GOOD, name: 'Other' }])],
    ['an id that a bad record has too', JSON.stringify([GOOD, { chainId: 99, name: 5 }])],
    ['a list without a good record', JSON.stringify([{ chainId: 1 }, 5])],
  ])('rejects %s', (_title, text) => {
    expect(() => parseChainList(text, 'own.json')).toThrow(
      expect.objectContaining({
        code: 'invalid_chain_list',
        message: expect.stringContaining('own.json') as string,
      }),
    );
  });

  test('ignores __proto__ and constructor as unknown fields', () => {
    const text =
      '[{"name":"A","chainId":1,"__proto__":{"title":"polluted","network":"x"},"constructor":{"prototype":{"y":1}}}]';
    const list = parseChainList(text, 'test');
    expect(JSON.stringify(list.records)).toBe('[{"name":"A","rpc":[],"chainId":1}]');
    expect(list.records[0]?.title).toBeUndefined();
    expect(({} as Record<string, unknown>).title).toBeUndefined();
    expect(list.ignoredFields).toEqual(['__proto__', 'constructor']);
  });

  test('quarantines an oversized record', () => {
    const rpc = Array.from({ length: 1000 }, (_each, index) => `https://${index}.example`);
    const list = parseChainList(JSON.stringify([GOOD, { chainId: 1, name: 'A', rpc }]), 'test');
    expect(list.records).toHaveLength(1);
    expect(list.quarantined).toMatchObject([{ chainId: 1 }]);
  });

  test('quarantines a record nested too deeply to render', () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const text = `[{"name":"A","chainId":1,"parent":${deep}},${JSON.stringify(GOOD)}]`;
    const list = parseChainList(text, 'test');
    expect(list.records).toEqual([GOOD]);
    expect(list.quarantined[0]).toMatchObject({ chainId: 1 });
  });

  test('identifies the list by the hash of its text', () => {
    const text = JSON.stringify([GOOD]);
    const list = parseChainList(text, 'own.json');
    expect(list.sha256).toBe(createHash('sha256').update(text).digest('hex'));
    expect(list.source).toBe('own.json');
  });

  for (const { name, records } of lists) {
    test.skipIf(records === undefined)(
      `keeps every non-empty field of ${name} byte for byte (skipped when ${NO_SHARED_DATA})`,
      () => {
        const sources = records ?? [];
        const list = parseChainList(JSON.stringify(sources), 'shared');
        expect(list.quarantined).toEqual([]);
        expect(list.records).toHaveLength(sources.length);
        expect(list.ignoredFields).toBeUndefined();
        for (const [index, record] of list.records.entries()) {
          const source = sources[index] ?? {};
          const known = Object.keys(source).filter((field) => source[field] !== '');
          expect(Object.keys(record).sort()).toEqual(known.sort());
          for (const field of known) {
            const read = (record as unknown as Record<string, unknown>)[field];
            expect(JSON.stringify(read)).toBe(JSON.stringify(source[field]));
          }
        }
      },
    );
  }
});

describe('readEmbeddedList', () => {
  test('contains at least 1,900 valid chains in ascending order and no credentials', async () => {
    const { records, quarantined, ignoredFields, source } = await readEmbeddedList();
    expect(source).toBe('embedded');
    expect(records.length).toBeGreaterThanOrEqual(1900);
    expect(quarantined).toEqual([]);
    expect(ignoredFields).toBeUndefined();
    const ids = records.map(({ chainId }) => chainId);
    expect(ids).toEqual([...ids].sort((left, right) => left - right));
    const faults = records.flatMap(({ rpc }) => rpc.map((url) => judgeRpc(url, { local: false })));
    expect(faults).not.toContain('user_information');
  });
});

describe('readListFile', () => {
  test('reads a JSON file with a byte order mark', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'fullmatch-list-'));
    try {
      const path = join(directory, 'own.json');
      await writeFile(path, `\uFEFF${JSON.stringify([GOOD])}`);
      const list = await readListFile(path);
      expect(list.records).toEqual([GOOD]);
      expect(list.source).toBe(path);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('rejects a missing file, showing its folder to the operator only', async () => {
    await expect(readListFile('/nowhere/own.json')).rejects.toMatchObject({
      code: 'invalid_chain_list',
      message: expect.not.stringContaining('/nowhere') as string,
      details: { source: 'own.json' },
      forOperator: expect.stringContaining('/nowhere/own.json') as string,
    });
  });

  test('does not quote an invalid file in the public message', () => {
    const parse = (): unknown => parseChainList('API_KEY=CANARY', '/nowhere/own.json');
    expect(parse).toThrow(
      expect.objectContaining({ message: 'The chain list own.json is not JSON, or was cut off.' }),
    );
  });
});
