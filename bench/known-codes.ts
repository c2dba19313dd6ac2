/**
 * Deployments per second that are matched against known bytecode, compared with one SHA-256 and one look-up
 * by it in the same run: `npx tsx bench/known-codes.ts`. No chain is read: both bytecodes are given. The
 * measurement covers the rest of verifying a clone, until the match could be stored.
 */
import { createHash } from 'node:crypto';
import { loadavg } from 'node:os';
import { maskCode } from '../src/bytecode/masked-code.ts';
import { type RegisteredChain } from '../src/chains/registry/registered-chain.ts';
import { createCompilers } from '../src/compilers/compilers.ts';
import { type Hex, hexToBytes } from '../src/lib/hex.ts';
import { silentLogger } from '../src/log.ts';
import { advanceFeed } from '../test/support/advance-feed.ts';
import { indexStoredCodes, saveMatch } from '../src/repository/repository.ts';
import { sql, type Database } from '../src/store/database.ts';
import { openStore } from '../src/store/open-store.ts';
import { createJobReader } from '../src/verification/compilation/job-reader.ts';
import { readVerificationTask } from '../src/verification/compilation/read-compilation-task.ts';
import { KnownCodeCache } from '../src/verification/known-codes/known-code-cache.ts';
import {
  type KnownCodeParts,
  verifyKnownCode,
} from '../src/verification/known-codes/verify-known-code.ts';
import { verifyContract } from '../src/verification/verify-contract.ts';
import { sampleAddress } from '../test/support/sample-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { compileCodes, NEWEST } from './compiled-codes.ts';
import { type BenchmarkContract, ERC721_ENUMERABLE, VALUED } from './compiler-inputs.ts';
import { median } from './median.ts';

const ROUNDS = 3;
const ROUND_MS = 2_000;
/** Concurrency that keeps two processors and a pool of ten connections busy. */
const AT_ONCE = 16;
const CHAIN_ID = 5;
const BLOCK_HASH: Hex = `0x${'11'.repeat(32)}`;

const LOOK_UP = sql('bench look up code', 'SELECT code FROM code WHERE code_hash = $1');

/** The bytecodes that the chain would return for an address. */
interface Codes {
  readonly runtimeCode: Uint8Array;
  readonly creationCode: Uint8Array;
}

/** Parts whose chain returns the bytecodes of `codesOf`. */
async function openParts(
  database: Database,
  codesOf: (address: Hex) => Codes,
): Promise<KnownCodeParts & { readonly close: () => Promise<void> }> {
  const compilers = await createCompilers({}, silentLogger);
  const reader = createJobReader();
  const chain = { record: { chainId: CHAIN_ID } } as RegisteredChain;
  return {
    ...{
      database,
      compilers,
      reader,
      sourceBytes: 5_000_000,
      diagnosisMs: 0,
      cache: new KnownCodeCache(),
    },
    findSupportedChain: () => chain,
    quorumOf: () => undefined,
    readDeployedCode: async (_chain, address) => ({
      code: codesOf(address).runtimeCode,
      ...{ blockNumber: 1, blockHash: BLOCK_HASH, endpoints: ['bench'], witnesses: 1 },
    }),
    findCreation: async (_chain, address) => ({
      methods: [],
      creation: {
        ...{ transactionHash: `0x${address.slice(2).padStart(64, '0')}`, blockNumber: 1 },
        ...{ transactionIndex: 0, deployer: sampleAddress(1) },
        creationCode: codesOf(address).creationCode,
      } as never,
    }),
    close: async () => {
      await compilers.close();
      await reader.close();
    },
  };
}

/** Rate per second, and this process's CPU time per unit in microseconds. */
interface Rate {
  readonly perSecond: number;
  readonly micros: number;
}

/** Runs work for the duration of a round, with fixed concurrency. */
async function rateOf(work: (number: number) => Promise<void>): Promise<Rate> {
  const begun = performance.now();
  const used = process.cpuUsage();
  let done = 0;
  const run = async (): Promise<void> => {
    while (performance.now() - begun < ROUND_MS) {
      done += 1;
      await work(done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  const perSecond = (done * 1000) / (performance.now() - begun);
  const { user, system } = process.cpuUsage(used);
  return { perSecond, micros: (user + system) / done };
}

/** Writes a word at offsets of a bytecode. */
function patch(code: Uint8Array, starts: readonly number[], word: Uint8Array): Buffer {
  const patched = Buffer.from(code);
  for (const start of starts) patched.set(word, start);
  return patched;
}

/** Stores a contract and returns a function that creates further deployments of it. */
async function prepare(
  database: Database,
  contract: BenchmarkContract,
  codesAt: Map<Hex, Codes>,
  parts: KnownCodeParts,
): Promise<(number: number) => Codes> {
  const { input, target } = contract;
  const { creationCode, runtimeCode: object, places } = await compileCodes(contract);
  const words = places.length === 0 ? 0 : 2;
  const make = (number: number): Codes => {
    const word = Buffer.alloc(32);
    word.writeUInt32BE(number, 28);
    const runtimeCode = places.reduce<Buffer>(
      (code, starts) => patch(code, starts, word),
      hexToBytes(object),
    );
    const args = Array.from({ length: words }, () => word.toString('hex')).join('');
    return { runtimeCode, creationCode: hexToBytes(creationCode + args) };
  };
  const address = sampleAddress(2_000_000_000 + codesAt.size);
  codesAt.set(address, make(7));
  const task = readVerificationTask(
    {
      ...{ chainId: CHAIN_ID, address },
      compilation: {
        ...{ kind: 'standard_json', input, compilerVersion: NEWEST },
        contractIdentifier: `${target.path}:${target.name}`,
      },
    },
    5_000_000,
  );
  const result = await verifyContract(parts, task, new AbortController().signal);
  await saveMatch(database, result.contract);
  await advanceFeed(database);
  while ((await indexStoredCodes(database)) > 0);
  return make;
}

/** Measures and prints. */
async function runKnownCodesBenchmark(): Promise<void> {
  console.log(`load before: ${loadavg()[0]?.toFixed(1) ?? '?'}`);
  const folder = await createTemporaryFolder('fullmatch-bench-');
  const store = await openStore(
    { poolSize: 10, dataDir: folder.path, migrate: true },
    silentLogger,
  );
  const { database } = store;
  const codesAt = new Map<Hex, Codes>();
  const parts = await openParts(database, (address) => codesAt.get(address)!);
  const { signal } = new AbortController();
  const rows = [];
  try {
    for (const [what, contract] of [
      ['the same bytes', ERC721_ENUMERABLE],
      ['other values each', VALUED],
    ] as const) {
      const make = await prepare(database, contract, codesAt, parts);
      const bytes = make(1).runtimeCode.length;
      const [judged, reference]: [Rate[], Rate[]] = [[], []];
      const masked: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        judged.push(
          await rateOf(async (number) => {
            const address = sampleAddress(round * 1_000_000 + number + 10);
            codesAt.set(address, make(number));
            const found = await verifyKnownCode(parts, { chainId: CHAIN_ID, address }, signal);
            codesAt.delete(address);
            if (found?.contract.runtimeMatch !== 'full') throw new Error(`${what}: no match`);
          }),
        );
        reference.push(
          await rateOf(async (number) => {
            const hash = createHash('sha256').update(make(number).runtimeCode).digest();
            await database.query(LOOK_UP, [hash]);
          }),
        );
        const used = process.cpuUsage();
        for (let number = 0; number < 2_000; number += 1) maskCode(make(1).runtimeCode);
        masked.push(process.cpuUsage(used).user / 2_000);
      }
      const of = (rates: readonly Rate[], key: keyof Rate): number =>
        Math.round(median(rates.map((rate) => rate[key])));
      rows.push({
        ...{ clones: what, contract: contract.name, bytes },
        ...{ 'judged/s': of(judged, 'perSecond'), 'CPU µs': of(judged, 'micros') },
        'SHA-256 and look-up/s': of(reference, 'perSecond'),
        'its CPU µs': of(reference, 'micros'),
        'mask, CPU µs': Math.round(median(masked)),
      });
    }
    console.table(rows);
    console.log(`resident: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`);
    console.log(`load after: ${loadavg()[0]?.toFixed(1) ?? '?'}`);
  } finally {
    await parts.close();
    await store.close();
    await folder.remove();
  }
}

await runKnownCodesBenchmark();
