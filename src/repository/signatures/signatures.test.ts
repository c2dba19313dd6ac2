import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { costOf } from '../../../test/support/explain.ts';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { sql } from '../../store/database.ts';
import { advanceFeed } from '../../../test/support/advance-feed.ts';
import { saveMatch } from '../matches/save-matches.ts';
import { withdrawMatch } from '../matches/withdraw-match.ts';
import { describeEvents } from './describe-logs.ts';
import { findByHashes, findEventInputs, readTotals, searchByPattern } from './find-signatures.ts';
import { importSignatures } from './import-signatures.ts';
import { indexSignatures } from './index-signatures.ts';
import { createSignatureDatabase } from './signature-database.ts';

let testDatabase: TestDatabase;
beforeEach(async () => {
  testDatabase = await createTestDatabase();
  return () => testDatabase.drop();
});

const hashOf = (signature: string): Hex => bytesToHex(keccak256(Buffer.from(signature)));
const selectorOf = (signature: string): Hex => hashOf(signature).slice(0, 10) as Hex;
const entry = (type: string, name: string, ...types: string[]) => ({
  ...{ type, name },
  inputs: types.map((each, index) => ({ name: `a${index}`, type: each, indexed: index === 0 })),
});
const ABI = [
  { type: 'constructor', inputs: [] },
  entry('function', 'transfer', 'address', 'uint256'),
  entry('function', 'transfer', 'address', 'uint256'),
  entry('event', 'Moved', 'address', 'uint256'),
  { ...entry('event', 'Hidden', 'address'), anonymous: true },
  entry('error', 'TooMuch', 'uint256'),
  entry('function', 'put', 'Lib.Set storage'),
];

/** Stores a match of a compilation with an ABI, and indexes its signatures. */
async function store(
  number: number,
  abi: unknown,
  runtimeMatch: 'full' | 'partial' = 'full',
  variant = number,
): Promise<void> {
  const contract = sampleContract(1, sampleAddress(number), { runtimeMatch }, { variant });
  await saveMatch(testDatabase.database, {
    ...contract,
    compilation: { ...contract.compilation, artifacts: { abi } },
  });
  await index();
}

async function index(): Promise<number> {
  await advanceFeed(testDatabase.database);
  let looked = 0;
  for (;;) {
    const taken = await indexSignatures(testDatabase.database);
    if (taken === 0) return looked;
    looked += taken;
  }
}

const functionsOf = async (...signatures: string[]) => {
  const found = await findByHashes(testDatabase.database, 'function', signatures.map(selectorOf));
  return [...found.values()].flat();
};
const totals = () => readTotals(testDatabase.database);
const imported = (kind: 'function' | 'event', ...texts: string[]) => ({
  ...{ function: [], event: [], error: [] },
  [kind]: texts.map((signature) => ({ signature, hash: hashOf(signature) })),
});

describe('Signatures of verified contracts', () => {
  test('are found by selector and topic, for functions, errors and events, each once', async () => {
    await store(1, ABI);
    expect(await functionsOf('transfer(address,uint256)', 'TooMuch(uint256)')).toEqual([
      {
        ...{ signature: 'transfer(address,uint256)', isVerified: true, isFiltered: false },
        hash: hashOf('transfer(address,uint256)'),
      },
      expect.objectContaining({ signature: 'TooMuch(uint256)', isVerified: true }),
    ]);
    expect(await functionsOf('put(Lib.Set storage)')).toHaveLength(1);
    const { database } = testDatabase;
    const topic = hashOf('Moved(address,uint256)');
    expect([...(await findByHashes(database, 'event', [topic])).values()].flat()).toHaveLength(1);
    expect(await totals()).toEqual({
      verified: { function: 2, event: 1, error: 1 },
      unverified: 0,
    });
    expect((await findEventInputs(database, [topic])).get(topic)).toEqual([
      {
        signature: 'Moved(address,uint256)',
        inputs: [
          { name: 'a0', type: 'address', indexed: true },
          { name: 'a1', type: 'uint256', indexed: false },
        ],
      },
    ]);
  });

  test('of a library come from the compiler, without type names', async () => {
    const contract = sampleContract(1, sampleAddress(1), { runtimeMatch: 'full' });
    const tuple = { type: 'tuple', components: [{ type: 'uint8' }, { type: 'uint8' }] };
    const artifacts = {
      abi: [
        { type: 'function', name: 'add', inputs: [tuple] },
        { type: 'function', name: 'size', inputs: [{ type: 'uint256' }] },
      ],
      methodIdentifiers: { 'add(Pair)': 'b5232883', 'size(uint256)': '7c05c6a1' },
    };
    artifacts.methodIdentifiers['size(uint256)'] = hashOf('size(uint256)').slice(2, 10);
    await saveMatch(testDatabase.database, {
      ...contract,
      compilation: { ...contract.compilation, artifacts },
    });
    await advanceFeed(testDatabase.database);
    expect(await index()).toBe(1);
    expect(await functionsOf('size(uint256)')).toHaveLength(1);
    expect(await functionsOf('add((uint8,uint8))')).toEqual([]);
  });

  test('of matches older than the index are added through the feed', async () => {
    const contract = sampleContract(1, sampleAddress(1), { runtimeMatch: 'full' });
    const artifacts = { abi: ABI };
    await saveMatch(testDatabase.database, {
      ...contract,
      compilation: { ...contract.compilation, artifacts },
    });
    await advanceFeed(testDatabase.database);
    const { database } = testDatabase;
    await database.query(
      sql('test forget', `UPDATE feed_followers SET position = 0 WHERE name = 'signatures'`),
    );
    await database.query(sql('test empty', 'DELETE FROM signed_compilations'));
    expect(await index()).toBe(1);
    expect(await functionsOf('transfer(address,uint256)')).toHaveLength(1);
  });

  test('become unverified when the match is withdrawn, and verified again when it returns', async () => {
    await store(1, ABI);
    await store(2, ABI, 'full', 1);
    const { database } = testDatabase;
    const withdraw = async (number: number) => {
      await withdrawMatch(database, { chainId: 1, address: sampleAddress(number), reason: 'test' });
      await index();
    };
    const isVerified = async () =>
      (await functionsOf('transfer(address,uint256)')).map((name) => name.isVerified);
    await withdraw(1);
    expect(await isVerified()).toEqual([true]);
    await withdraw(2);
    expect(await isVerified()).toEqual([false]);
    expect(await totals()).toEqual({
      verified: { function: 0, event: 0, error: 0 },
      unverified: 4,
    });
    const topic = hashOf('Moved(address,uint256)');
    expect((await findEventInputs(database, [topic])).get(topic)).toEqual([]);
    await store(2, ABI, 'full', 1);
    expect(await isVerified()).toEqual([true]);
    expect(await totals()).toMatchObject({ unverified: 0 });
  });

  test('are replaced when a match upgrades to another compilation', async () => {
    await store(1, [entry('function', 'before')], 'partial', 1);
    await store(1, [entry('function', 'after')], 'full', 2);
    const [before] = await functionsOf('before()');
    const [after] = await functionsOf('after()');
    expect([before?.isVerified, after?.isVerified]).toEqual([false, true]);
  });

  test('count a compilation once for any number of contracts and processes', async () => {
    for (const number of [1, 2, 3]) await store(number, ABI, 'full', 7);
    for (let variant = 10; variant < 40; variant += 1) {
      const contract = sampleContract(
        2,
        sampleAddress(variant),
        { runtimeMatch: 'full' },
        { variant },
      );
      const artifacts = { abi: ABI };
      await saveMatch(testDatabase.database, {
        ...contract,
        compilation: { ...contract.compilation, artifacts },
      });
    }
    await advanceFeed(testDatabase.database);
    const { database } = testDatabase;
    await Promise.all([1, 2, 3].map(() => indexSignatures(database)));
    await index();
    const [row] = await database.query<{ compilations: string }>(
      sql(
        'test uses',
        `SELECT compilations FROM signatures WHERE signature = 'transfer(address,uint256)'`,
      ),
    );
    expect(Number(row?.compilations)).toBe(31);
    expect(await index()).toBe(0);
  });

  test('ignore a malformed ABI and invalid signatures', async () => {
    await store(1, 'nothing');
    await store(2, [null, 4, entry('function', 'f', 'bool); DROP'), entry('function', 'g é')]);
    await store(3, [entry('function', 'h', `uint256${'[1]'.repeat(700)}`), entry('fallback', 'x')]);
    expect(await totals()).toEqual({
      verified: { function: 0, event: 0, error: 0 },
      unverified: 0,
    });
  });
});

// Names with one selector, found by brute force.
const REAL = 'transfer(address,uint256)';
const JUNK = 'many_msg_babbage(bytes1)';

describe('Several signatures of one selector', () => {
  test('filters an imported one if a verified contract has another', async () => {
    expect(selectorOf(JUNK)).toBe(selectorOf(REAL));
    const { database } = testDatabase;
    await importSignatures(database, imported('function', REAL, JUNK), 10);
    expect((await functionsOf(REAL)).map(({ isFiltered }) => isFiltered)).toEqual([false, false]);
    await store(1, ABI);
    expect(await functionsOf(REAL)).toMatchObject([
      { signature: REAL, isVerified: true, isFiltered: false },
      { signature: JUNK, isVerified: false, isFiltered: true },
    ]);
  });

  test('filters a verified one that is outnumbered ten to one', async () => {
    await store(1, [entry('function', 'many_msg_babbage', 'bytes1')]);
    for (let number = 2; number < 12; number += 1) await store(number, ABI);
    expect(await functionsOf(REAL)).toMatchObject([
      { signature: REAL, isFiltered: false },
      { signature: JUNK, isVerified: true, isFiltered: false },
    ]);
    await store(12, ABI);
    expect(await functionsOf(REAL)).toMatchObject([
      { signature: REAL, isFiltered: false },
      { signature: JUNK, isVerified: true, isFiltered: true },
    ]);
  });
});

describe('Signature import', () => {
  test('reports new signatures and adds none twice', async () => {
    const { database } = testDatabase;
    const asked = imported('event', 'A(bool)', 'B()');
    expect((await importSignatures(database, asked, 10)).event).toEqual(
      new Set([hashOf('A(bool)'), hashOf('B()')]),
    );
    expect((await importSignatures(database, asked, 10)).event).toEqual(new Set());
    expect(await totals()).toMatchObject({ unverified: 2 });
  });

  test('rejects anything beyond the budget; signatures of contracts do not count', async () => {
    const { database } = testDatabase;
    await store(1, ABI);
    await importSignatures(database, imported('function', 'a()', 'b()'), 3);
    await expect(
      importSignatures(database, imported('function', 'c()', 'd()'), 3),
    ).rejects.toMatchObject({ code: 'signature_budget_spent' });
    await importSignatures(database, imported('function', 'c()'), 3);
    await importSignatures(database, imported('function', 'c()', REAL), 3);
    expect(await totals()).toMatchObject({ verified: { function: 2 }, unverified: 3 });
    await store(2, [entry('function', 'a')]);
    expect(await totals()).toMatchObject({ verified: { function: 3 }, unverified: 2 });
  });

  test('is rejected if the operator does not allow it', async () => {
    const signatures = createSignatureDatabase(testDatabase.database, 0);
    await expect(signatures.import(imported('function', 'a()'), '192.0.2.1')).rejects.toMatchObject(
      { code: 'signature_import_refused' },
    );
  });
});

describe('Log entry', () => {
  test('is matched against a bounded number of parameter types per request', async () => {
    const { database } = testDatabase;
    const event = `Wide(${Array.from({ length: 390 }, () => 'bool').join(',')})`;
    await importSignatures(database, imported('event', event), 1);
    const hash = Buffer.from(hashOf(event).slice(2), 'hex');
    const entry = { topics: [hash, hash, hash], data: Buffer.alloc(0) };
    await expect(describeEvents(database, [entry])).resolves.toEqual([[]]);
    const many = Array.from({ length: 100 }, () => entry);
    await expect(describeEvents(database, many)).rejects.toMatchObject({
      code: 'request_too_complex',
    });
  });
});

describe('Signature search', () => {
  const FILL = sql(
    'test fill signatures',
    `INSERT INTO signatures (signature_hash, kind, signature, compilations)
     SELECT sha256(n::text::bytea), (ARRAY['function', 'event', 'error'])[n % 3 + 1], 'name' || n || '(uint256)', n % 2
     FROM generate_series(1, 60000) AS n`,
  );
  let filled: TestDatabase;
  beforeAll(async () => {
    filled = await createTestDatabase();
    await filled.database.query(FILL);
    await filled.database.query(
      sql(
        'test named signatures',
        `INSERT INTO signatures (signature_hash, kind, signature)
         SELECT sha256(name::bytea), kind, name FROM (VALUES ('Transfer(address)', 'event'), ('transfer(address)', 'function'),
           ('transfer_from(bool)', 'function'), ('transferXfrom(bool)', 'error')) AS row (name, kind)`,
      ),
    );
    await filled.database.query(sql('test analyze', 'ANALYZE signatures'));
  });
  afterAll(() => filled.drop());

  const search = async (pattern: string) => {
    const found = await searchByPattern(filled.database, pattern);
    const textsOf = (names: typeof found.function) =>
      [...names.values()].flat().map(({ signature }) => signature);
    return { function: textsOf(found.function), event: textsOf(found.event) };
  };

  test.each([
    ['transfer*', ['transfer(address)', 'transferXfrom(bool)', 'transfer_from(bool)'], []],
    ['Transfer*', [], ['Transfer(address)']],
    ['transfer_from*', ['transfer_from(bool)'], []],
    ['transfer?from*', ['transferXfrom(bool)', 'transfer_from(bool)'], []],
    ['transfer(address)', ['transfer(address)'], []],
    ['transfer', [], []],
    ['t*f*m*)', ['transferXfrom(bool)', 'transfer_from(bool)'], []],
  ])('for %s finds the matching signatures', async (pattern, functions, events) => {
    const found = await search(pattern);
    expect(found.function.sort()).toEqual(functions);
    expect(found.event).toEqual(events);
  });

  test('returns at most a hundred through the index without reading the rest', async () => {
    const found = await search('name1*');
    expect(found.function.length + found.event.length).toBe(100);
    const cost = await costOf(filled.database, (database) => searchByPattern(database, 'name1*'));
    expect(cost.scanned).not.toContain('signatures');
    expect(cost.rows).toBeLessThanOrEqual(200);
  });

  test('rejects a prefix shared by too many names unless enough of them match', async () => {
    await expect(search('name*9999(uint256)')).rejects.toMatchObject({ code: 'search_too_broad' });
    expect((await search('name4999*')).function).not.toEqual([]);
    const cost = await costOf(filled.database, (database) =>
      searchByPattern(database, 'name*x').catch(() => undefined),
    );
    expect(cost.rows).toBeLessThanOrEqual(20_001);
  });

  test('compares a bounded number of characters for long names and patterns', async () => {
    await filled.database.query(
      sql(
        'test long signatures',
        `INSERT INTO signatures (signature_hash, kind, signature)
         SELECT sha256(('long' || n)::bytea), 'function', 'long' || repeat('o', 1900) || n || '()'
         FROM generate_series(1, 2000) AS n`,
      ),
    );
    const begun = `long*${'o'.repeat(240)}`;
    await expect(search(`${begun}x`)).rejects.toMatchObject({ code: 'search_too_broad' });
    expect((await search(`${begun}*`)).function.length).toBe(100);
    expect((await search('long*(bool)')).function).toEqual([]);
  });

  test('queues requests, with a limit per network', async () => {
    const signatures = createSignatureDatabase(filled.database, 0);
    const searched = await Promise.allSettled(
      Array.from({ length: 20 }, () => signatures.searchByPattern('transfer*', '192.0.2.1')),
    );
    const refused = searched.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({ reason: { code: 'too_many_waiters' } });
  });

  test.each([
    '',
    '*',
    '?a',
    '*transfer',
    'a%',
    'a\\',
    'a*b*c*d*e*f*g*h*i*j',
    `a${'b'.repeat(256)}`,
  ])('for %j is rejected', async (pattern) => {
    await expect(search(pattern)).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  test('looks up a thousand hashes through the index', async () => {
    const hashes = Array.from(
      { length: 1000 },
      (_, number) => hashOf(`h${number}`).slice(0, 10) as Hex,
    );
    const cost = await costOf(filled.database, (database) =>
      findByHashes(database, 'function', hashes),
    );
    expect(cost.scanned).not.toContain('signatures');
    expect(cost.buffers).toBeLessThan(10_000);
  });
});
