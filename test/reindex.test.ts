// How the other contracts of stored sources get into the index of known bytecode.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { recordedCompilers } from './support/recorded-compilers.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { SOLC_PACKAGES } from './support/solc-packages.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { runInProcess } from './support/run-cli.ts';
import { type Compilers, createCompilers } from '../src/compilers/compilers.ts';
import { FullmatchError } from '../src/errors.ts';
import { silentLogger } from '../src/log.ts';
import { advanceFeed } from './support/advance-feed.ts';
import { indexStoredCodes, saveMatch } from '../src/repository/repository.ts';
import { sql } from '../src/store/database.ts';
import { createJobReader, type JobReader } from '../src/verification/compilation/job-reader.ts';
import { reindex, type ReindexParts } from '../src/verification/known-codes/reindex.ts';

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
/** Parts of the indexer; `compile` may replace the compilers. */
const partsOf = (compile?: Compilers['compileToBytes']): ReindexParts => ({
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
/** Stores an import whose bytecode is unknown. */
const store = async (
  number: number,
  content: string,
  { chainId = 1, ...more }: { readonly chainId?: number } & Record<string, unknown> = {},
): Promise<void> => {
  const contract = sampleContract(chainId, sampleAddress(number), { runtimeMatch: 'full' });
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
const run = async (
  parts = partsOf(),
  { chainId, ending = signal }: { chainId?: number; ending?: AbortSignal } = {},
) => {
  const found: { contracts: number; reason?: string }[] = [];
  for await (const { contracts, reason } of reindex(parts, { chainId, workers: 1 }, ending)) {
    found.push({ contracts, ...(reason !== undefined && { reason }) });
  }
  return found;
};

test('adds every contract of imported bytecode to the index with one compilation', async () => {
  await store(1, TWO);
  expect(await namesOf()).toEqual([]);
  expect(await run()).toEqual([{ contracts: 3 }]);
  expect(await namesOf()).toEqual(['S.sol:Lib', 'S.sol:One', 'S.sol:Two']);
  expect(await run()).toEqual([]);
  expect(compiled).toEqual(['S.sol']);
});

test('compiles the same sources and settings once', async () => {
  await store(1, TWO);
  await store(2, TWO, { name: 'Two', fullyQualifiedName: 'S.sol:Two' });
  await store(3, TWO, { settings: { optimizer: { enabled: false } } });
  expect(await run()).toHaveLength(3);
  expect(compiled).toEqual(['S.sol', 'S.sol']);
});

test('can be limited to one chain', async () => {
  await store(1, TWO, { chainId: 1 });
  await store(2, `${TWO} contract Three {}`, { chainId: 5 });
  expect(await run(partsOf(), { chainId: 5 })).toEqual([{ contracts: 4 }]);
  expect(await run()).toEqual([{ contracts: 3 }]);
});

test('reports a missing compiler and downloads nothing', async () => {
  await store(1, TWO, { version: '0.8.1+commit.df193b15' });
  const missing = [{ contracts: 0, reason: 'compiler_unavailable' }];
  expect(await run()).toEqual(missing);
  expect(await run()).toEqual(missing);
  expect(compiled).toEqual([]);
});

test.each([
  ['a compiler that crashed', 'compiler_crashed', [{ contracts: 3 }]],
  ['sources that cannot be compiled', 'invalid_compiler_input', []],
] as const)('remembers %s for the next run', async (_what, code, next) => {
  await store(1, TWO);
  const failing = partsOf(() => Promise.reject(new FullmatchError(code, 'It failed.')));
  expect(await run(failing)).toEqual([{ contracts: 0, reason: code }]);
  expect(await run()).toEqual(next);
});

test('leaves an interrupted compilation to the next run', async () => {
  await store(1, TWO);
  const ending = new AbortController();
  const stuck = partsOf(async (request) => {
    ending.abort(new Error('ended'));
    request.signal?.throwIfAborted();
    return compilers.compileToBytes(request);
  });
  await expect(run(stuck, { ending: ending.signal })).rejects.toThrow('ended');
  expect(await run()).toEqual([{ contracts: 3 }]);
});

test('does not compile sources with a single contract whose bytecode is stored', async () => {
  const code = Buffer.from('6001600255', 'hex');
  await store(1, 'contract One {}', { runtimeCode: code, creationCode: code });
  expect(await namesOf()).toEqual(['S.sol:One']);
  expect(await run()).toEqual([{ contracts: 0 }]);
  expect(compiled).toEqual([]);
});

test('prints a JSON report and exits 75 if a compiler is missing', async () => {
  await store(1, 'contract One {}', { runtimeCode: Buffer.from('6001600255', 'hex') });
  const command = (...more: string[]) =>
    runInProcess(['reindex', '--json', ...more], {
      environment: { DATABASE_URL: testDatabase.url, FULLMATCH_REGISTRY_DEFAULTS: 'true' },
    });
  const { exitCode, stdout } = await command('1');
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    0,
    { compilations: 1, contracts: 0, reasons: {} },
  ]);
  await store(2, TWO, { version: '0.8.1+commit.df193b15' });
  const missing = await command();
  expect(missing.exitCode).toBe(75);
  expect(JSON.parse(missing.stdout)).toMatchObject({ reasons: { compiler_unavailable: 1 } });
});
