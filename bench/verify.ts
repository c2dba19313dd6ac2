/**
 * Verifications through the whole service, cold and warm, and the memory of loaded compilers: `npm run
 * bench:verify`. It runs the built program in dist/ on its embedded database, with its own anvil.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCompilers } from '../src/compilers/compilers.ts';
import { silentLogger } from '../src/log.ts';
import {
  configOf,
  deploy,
  startAnvil,
  VERIFIED_CHAIN_ID,
  type Anvil,
} from '../test/support/anvil.ts';
import { ALL_CHAINS, startProgram } from '../test/support/booted-service.ts';
import { SOLC_PACKAGES } from '../test/support/solc-packages.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import {
  compileAsDeveloper,
  type DevelopersContract,
  type TestInput,
} from '../test/support/developer.ts';
import { pollJob, post } from '../test/support/verification-client.ts';
import { type BenchmarkContract, ERC721_ENUMERABLE, GOVERNOR, SMALL } from './compiler-inputs.ts';
import { findCompilers, readResident } from './child-compilers.ts';
import { median } from './median.ts';
import { compileParsed } from '../test/support/compile-parsed.ts';

const NEWEST = '0.8.37';
const MEASURED_VERSIONS = [NEWEST, '0.8.20', '0.6.12', '0.4.26'] as const;
const COLD_ROUNDS = 3;
const WARM_PER_ROUND = 5;
/** Lets a compiler create its next instance and release memory. */
const PAUSE_MS = 700;
const BATCH = 40;
const CLONE_ROUNDS = 5;
const WORKERS = 2;
const SOLC = path.dirname(createRequire(import.meta.url).resolve('solc/package.json'));

type Program = Awaited<ReturnType<typeof startProgram>>;
type Deployment = Awaited<ReturnType<typeof deploy>>;

/** A benchmark contract as its developer compiled it. */
interface Prepared {
  readonly contract: BenchmarkContract;
  readonly compiled: DevelopersContract;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** The reference: the compiler's npm package in a fresh process, for this single compilation. */
function compileInFreshProcess({ input }: BenchmarkContract): Promise<void> {
  const script = `const solc = require(process.argv[1]);
    process.stdout.write(solc.compile(require('fs').readFileSync(0, 'utf8')));`;
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 2 ** 27 };
    const child = execFile(process.execPath, ['-e', script, SOLC], options, (error) =>
      error === null ? resolve() : reject(new Error(error.message.slice(0, 300))),
    );
    child.stdin?.end(JSON.stringify(input));
  });
}

/** @param edition makes the contract's text unique: the service compiles each text once */
async function prepare(contract: BenchmarkContract, edition = 0): Promise<Prepared> {
  const { target } = contract;
  const { [target.path]: main, ...others } = contract.input.sources;
  const content = `${main?.content ?? ''}\n// edition ${edition}`;
  const input = { ...contract.input, sources: { ...others, [target.path]: { content } } };
  const compiled = await compileAsDeveloper(NEWEST, input as TestInput, target.path, target.name);
  return { contract: { ...contract, input }, compiled };
}

function prepareEditions(contract: BenchmarkContract, editions: number): Promise<Prepared[]> {
  const numbers = Array.from({ length: editions }, (_, number) => number);
  return Promise.all(numbers.map((number) => prepare(contract, number)));
}

/** The votes parameter of the Governor; other constructors ignore it. */
const CONSTRUCTOR_ARGUMENTS = '7'.padStart(64, '0');

function deployFresh(anvil: Anvil, { contract, compiled }: Prepared): ReturnType<typeof deploy> {
  return deploy(
    anvil,
    compiled.creationCode,
    contract.name === GOVERNOR.name ? CONSTRUCTOR_ARGUMENTS : undefined,
  );
}

/** One verification through API v1: a request whose response is the match. */
async function verifyOne(program: Program, anvil: Anvil, prepared: Prepared): Promise<number> {
  const { contract, compiled } = prepared;
  const { address, transactionHash } = await deployFresh(anvil, prepared);
  const sources = Object.entries(contract.input.sources).map(([name, { content }]) => [
    name,
    content,
  ]);
  const body = {
    chain: String(VERIFIED_CHAIN_ID),
    address,
    creatorTxHash: transactionHash,
    files: { 'metadata.json': compiled.metadata, ...(Object.fromEntries(sources) as object) },
  };
  return timeOf(async () => {
    const response = await post(`${program.apiUrl}/verify`, body);
    const text = await response.text();
    if (!text.includes('"status":"perfect"')) throw new Error(`${contract.name}: ${text}`);
  });
}

/** One line of the table of contracts; times in milliseconds. */
interface ContractRow {
  readonly contract: string;
  readonly reference: number;
  readonly cold: number;
  readonly warm: number;
}

async function measureContract(
  start: () => Promise<Program>,
  anvil: Anvil,
  contract: BenchmarkContract,
): Promise<ContractRow> {
  const [first, ...editions] = await prepareEditions(contract, 1 + WARM_PER_ROUND);
  if (first === undefined) throw new Error('nothing is prepared');
  const [reference, cold, warm]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < COLD_ROUNDS; round += 1) {
    reference.push(await timeOf(() => compileInFreshProcess(first.contract)));
    const program = await start();
    cold.push(await verifyOne(program, anvil, first));
    for (const edition of editions) {
      await sleep(PAUSE_MS);
      warm.push(await verifyOne(program, anvil, edition));
    }
    await stop(program);
  }
  const { name } = contract;
  const row = { reference: median(reference), cold: median(cold), warm: median(warm) };
  return { contract: name, ...row };
}

async function stop(program: Program): Promise<void> {
  program.child.kill('SIGTERM');
  await program.ended;
}

/** Verifications per second when all are queued. */
async function measureRate(
  program: Program,
  anvil: Anvil,
  batch: readonly Prepared[],
): Promise<number> {
  const bodyOf = ({ contract: { input, target } }: Prepared, hash: string): object => ({
    stdJsonInput: input,
    compilerVersion: NEWEST,
    contractIdentifier: `${target.path}:${target.name}`,
    creationTransactionHash: hash,
  });
  const deployments: { readonly prepared: Prepared; readonly at: Deployment }[] = [];
  for (const prepared of batch) {
    deployments.push({ prepared, at: await deployFresh(anvil, prepared) });
  }
  const took = await timeOf(async () => {
    const ids = await Promise.all(
      deployments.map(async ({ prepared, at: { address, transactionHash } }) => {
        const url = `${program.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`;
        const response = await post(url, bodyOf(prepared, transactionHash));
        return ((await response.json()) as { verificationId: string }).verificationId;
      }),
    );
    for (const id of ids) {
      const job = await pollJob(program.apiUrl, id);
      if (job.contract.match !== 'exact_match') throw new Error(JSON.stringify(job));
    }
  });
  return (batch.length * 1000) / took;
}

/** The median of several batches: during the first ones Node still compiles code that was unused before. */
async function measureCloneRate(program: Program, anvil: Anvil, first: Prepared): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < CLONE_ROUNDS; round += 1) {
    rates.push(await measureRate(program, anvil, Array<Prepared>(BATCH).fill(first)));
  }
  return median(rates);
}

/** Compilations per second of fresh processes, with as many in parallel as the service has workers. */
async function measureFreshRate(contract: BenchmarkContract): Promise<number> {
  const fresh = 10;
  const took = await timeOf(async () => {
    for (let number = 0; number < fresh; number += WORKERS) {
      await Promise.all(Array.from({ length: WORKERS }, () => compileInFreshProcess(contract)));
    }
  });
  return (fresh * 1000) / took;
}

/** Resident memory of the process with each version's compiler, a while after it compiled a small contract. */
async function measureMemory(): Promise<readonly object[]> {
  const rows = [];
  for (const version of MEASURED_VERSIONS) {
    const compilers = await createCompilers({ sources: { packages: SOLC_PACKAGES } }, silentLogger);
    await compileParsed(compilers, { language: 'solidity', version, input: SMALL.input });
    await sleep(3 * PAUSE_MS);
    const [compiler = 0] = await findCompilers(process.pid);
    const mebibytes = Math.round((await readResident(compiler)) / 2 ** 20);
    rows.push({ version, mebibytes });
    await compilers.close();
  }
  return rows;
}

/** Measures and prints. */
export async function runVerificationBenchmark(): Promise<void> {
  console.log(`load before: ${loadavg()[0]?.toFixed(1) ?? '?'}`);
  const folder = await createTemporaryFolder('fullmatch-bench-');
  const anvil = await startAnvil({ chainId: VERIFIED_CHAIN_ID });
  try {
    const yaml = configOf(anvil, `verification: { workers: ${WORKERS} }\n`);
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), yaml);
    const environment = { ...ALL_CHAINS, FULLMATCH_DATA_DIR: path.join(folder.path, 'data') };
    const start = (): Promise<Program> =>
      startProgram({ environment, workingDirectory: folder.path });
    // Creates the database and warms the file caches.
    await stop(await start());
    for (const contract of [SMALL, ERC721_ENUMERABLE, GOVERNOR]) {
      const { reference, cold, warm } = await measureContract(start, anvil, contract);
      console.log(
        [
          contract.name.padEnd(8),
          `reference ${reference.toFixed(0)} ms`,
          `cold ${cold.toFixed(0)} ms`,
          `warm ${warm.toFixed(0)} ms`,
          `reference / warm ${(reference / warm).toFixed(1)}`,
          `cold / warm ${(cold / warm).toFixed(1)}`,
        ].join('  '),
      );
    }
    const program = await start();
    for (const contract of [SMALL, ERC721_ENUMERABLE]) {
      const [first, ...different] = await prepareEditions(contract, 1 + BATCH);
      if (first === undefined) throw new Error('nothing is prepared');
      await verifyOne(program, anvil, first);
      const rates = {
        different: await measureRate(program, anvil, different),
        clones: await measureCloneRate(program, anvil, first),
        fresh: await measureFreshRate(contract),
      };
      console.log(
        [
          `${contract.name.padEnd(8)} ${WORKERS} workers, ${BATCH} that wait:`,
          `different texts ${rates.different.toFixed(1)}/s`,
          `one text ${rates.clones.toFixed(1)}/s`,
          `fresh processes ${rates.fresh.toFixed(1)}/s`,
        ].join('  '),
      );
    }
    await stop(program);
    console.table(await measureMemory());
  } finally {
    await anvil.stop();
    await folder.remove();
  }
  console.log(`load after: ${loadavg()[0]?.toFixed(1) ?? '?'}`);
}

await runVerificationBenchmark();
