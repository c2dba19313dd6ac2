// The index of known codes: how the other contracts of stored sources come into it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { recordedCompilers } from './support/recorded-compilers.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { SOLC_PACKAGES } from './support/solc-packages.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { waitUntil } from './support/wait-for.ts';
import { type Compilers, createCompilers } from '../src/compilers/compilers.ts';
import { silentLogger } from '../src/log.ts';
import { advanceFeed } from '../src/repository/feed/follow-feed.ts';
import { indexStoredCodes, saveMatch } from '../src/repository/repository.ts';
import { sql } from '../src/store/database.ts';
import { createJobReader, type JobReader } from '../src/verification/compilation/job-reader.ts';
import {
  indexNextProject,
  type SiblingParts,
} from '../src/verification/known-codes/index-siblings.ts';
import { startIndexing } from '../src/verification/known-codes/start-indexing.ts';

let testDatabase: TestDatabase;
let compilers: Compilers;
let reader: JobReader;
let compiled: string[];
beforeAll(async () => {
  compilers = recordedCompilers(
    await createCompilers({ sources: { packages: SOLC_PACKAGES } }, silentLogger),
  );
  reader = createJobReader();
});
afterAll(() => Promise.all([compilers.close(), reader.close()]));
beforeEach(async () => {
  testDatabase = await createTestDatabase();
  compiled = [];
  return () => testDatabase.drop();
});

const read = <Row extends object>(text: string): Promise<Row[]> =>
  testDatabase.database.query<Row>(sql(`test ${text.slice(0, 50)}`, text));
const namesOf = async (): Promise<string[]> =>
  (
    await read<{ name: string }>(
      'SELECT fully_qualified_name AS name FROM known_contracts ORDER BY fully_qualified_name COLLATE "C"',
    )
  ).map(({ name }) => name);
const queueOf = () =>
  read(
    'SELECT tries, reason, next_try_at IS NULL AS is_settled FROM indexed_compilations ORDER BY tries DESC',
  );

/** What indexes; `compile` may answer in the place of the compilers. */
const partsOf = (compile?: Compilers['compileToBytes']): SiblingParts => ({
  database: testDatabase.database,
  reader,
  sourceBytes: 5_000_000,
  compilers: {
    listUsable: () => compilers.listUsable(),
    compileToBytes: (request) => {
      compiled.push(Object.keys(request.input.sources).join());
      return (compile ?? compilers.compileToBytes)(request);
    },
  },
});

const TWO = `interface Nothing { function f() external; }
  abstract contract Half { function f() public virtual; }
  library Lib { function g() public pure returns (uint) { return 2; } }
  contract One { uint public x = Lib.g(); }
  contract Two { uint immutable public y; constructor() { y = 4; } }`;
/** Stores an import, whose code is not known. */
const store = async (number: number, content: string, more: object = {}): Promise<void> => {
  const contract = sampleContract(1, sampleAddress(number), { runtimeMatch: 'full' });
  const { compiler, language, name, settings, artifacts } = contract.compilation;
  const fullyQualifiedName = 'S.sol:One';
  const version = '0.8.37+commit.f401782d';
  await saveMatch(testDatabase.database, {
    ...contract,
    compilation: {
      ...{
        compiler,
        language,
        name,
        settings,
        artifacts,
        version,
        fullyQualifiedName,
        sources: [{ path: 'S.sol', content }],
      },
      ...more,
    },
  });
  await advanceFeed(testDatabase.database);
  while ((await indexStoredCodes(testDatabase.database)) > 0);
};
const { signal } = new AbortController();
const JOB = `INSERT INTO verification_jobs (chain_id, address, request, input_hash, turn)
  VALUES (1, decode(repeat('ab', 20), 'hex'), '\\x00', decode(repeat('ab', 32), 'hex'), 1)`;

test('every contract with code of an import comes into it, by one compilation', async () => {
  await store(1, TWO);
  expect(await namesOf()).toEqual([]);
  expect(await indexNextProject(partsOf(), signal)).toBe('settled');
  expect(await namesOf()).toEqual(['S.sol:Lib', 'S.sol:One', 'S.sol:Two']);
  expect(await indexNextProject(partsOf(), signal)).toBe('idle');
  expect(await queueOf()).toEqual([{ tries: 1, reason: null, is_settled: true }]);
});

test('compilations of the same sources and settings are compiled once', async () => {
  await store(1, TWO);
  await store(2, TWO, { name: 'Two', fullyQualifiedName: 'S.sol:Two' });
  await store(3, TWO, { settings: { optimizer: { enabled: false } } });
  while ((await indexNextProject(partsOf(), signal)) === 'settled');
  expect(compiled).toEqual(['S.sol', 'S.sol']);
});

test('a compiler that is not here is waited for, and nothing is downloaded', async () => {
  await store(1, TWO, { version: '0.8.1+commit.df193b15' });
  expect(await indexNextProject(partsOf(), signal)).toBe('settled');
  expect(await queueOf()).toEqual([
    { tries: 1, reason: 'compiler_unavailable', is_settled: false },
  ]);
  expect(compiled).toEqual([]);
  expect(await indexNextProject(partsOf(), signal)).toBe('idle');
});

test('what fails is tried again later, a few times, and leaves the others alone', async () => {
  await store(1, TWO);
  const fail = partsOf(() => Promise.reject(new Error('broken')));
  for (let tries = 1; tries <= 4; tries += 1) {
    expect(await indexNextProject(fail, signal)).toBe('settled');
    const reason = 'internal_error';
    expect(await queueOf()).toEqual([{ tries, reason, is_settled: tries === 4 }]);
    await read('UPDATE indexed_compilations SET next_try_at = now() WHERE next_try_at > now()');
  }
  expect(await indexNextProject(fail, signal)).toBe('idle');
  await store(2, TWO);
  expect(await indexNextProject(partsOf(), signal)).toBe('idle');
});

test('no compilation begins or goes on while a verification waits, and what gave way comes again', async () => {
  await store(1, TWO);
  let ended = 0;
  let isStuck = true;
  const parts = partsOf((request) =>
    isStuck
      ? new Promise((_resolve, reject) =>
          request.signal?.addEventListener('abort', () => {
            ended += 1;
            reject(new Error('ended'));
          }),
        )
      : compilers.compileToBytes(request),
  );
  let indexed = 0;
  const onIndexed = (): void => {
    indexed += 1;
  };
  const options = { pollMs: 20, lookMs: 20, onIndexed };
  const indexing = startIndexing(parts, options, silentLogger);
  try {
    await waitUntil(() => compiled.length === 1);
    await read(JOB);
    await waitUntil(() => ended === 1);
    expect(compiled).toHaveLength(1);
    await expect.poll(queueOf).toEqual([{ tries: 0, reason: null, is_settled: false }]);
    isStuck = false;
    await read('DELETE FROM verification_jobs');
    await waitUntil(async () => (await namesOf()).length === 3);
    await waitUntil(() => indexed === 1);
  } finally {
    await indexing.close();
  }
});

test('a process that ends in a compilation hands it back', async () => {
  await store(1, TWO);
  const parts = partsOf(
    ({ signal: ending }) =>
      new Promise((_resolve, reject) =>
        ending?.addEventListener('abort', () => {
          reject(new Error('ended'));
        }),
      ),
  );
  const indexing = startIndexing(parts, { pollMs: 20 }, silentLogger);
  await waitUntil(() => compiled.length > 0);
  await indexing.close();
  expect(await queueOf()).toEqual([{ tries: 0, reason: null, is_settled: false }]);
  expect(await indexNextProject(partsOf(), signal)).toBe('settled');
  expect(await namesOf()).toHaveLength(3);
});

test('sources that declare one contract, whose code is stored, are not compiled', async () => {
  const code = Buffer.from('6001600255', 'hex');
  await store(1, 'contract One {}', { runtimeCode: code, creationCode: code });
  expect(await namesOf()).toEqual(['S.sol:One']);
  expect(await indexNextProject(partsOf(), signal)).toBe('settled');
  expect(compiled).toEqual([]);
});
