/**
 * Contract records: `npm run build && npx tsx bench/records.ts`. `fields=all` of an ERC-721: requested for
 * the first time, repeated, and cached by the client (304), compared with a bare node:http server that sends
 * the same bytes. The CPU time is that of the process with all threads, without PostgreSQL.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { hexToBytes } from '../src/lib/hex.ts';
import { silentLogger } from '../src/log.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { type VerifiedContract } from '../src/repository/matches/verified-contract.ts';
import { openStore } from '../src/store/open-store.ts';
import { ALL_CHAINS, startProgram } from '../test/support/booted-service.ts';
import { processorTimeOf } from '../test/support/processor-time.ts';
import { sampleAddress } from '../test/support/sample-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { ERC721_ENUMERABLE } from './compiler-inputs.ts';
import { median } from './median.ts';
import { measureRequests, type Fired, type Server } from './measure-requests.ts';
import { startBare } from './start-bare.ts';
import { waitUntilIdle } from './wait-until-idle.ts';

const ROUNDS = 3;
const ROUND_SECONDS = 2;
const CONNECTIONS = 16;
const COLD_PER_ROUND = 50;
const WARM_UP = 40;

interface CompilerOutput {
  contracts: Record<string, Record<string, CompiledContract>>;
  sources: object;
}
interface CompiledCode {
  object: string;
  [artifact: string]: unknown;
}
interface CompiledContract {
  metadata: string;
  evm: { bytecode: CompiledCode; deployedBytecode: CompiledCode };
  [artifact: string]: unknown;
}

/** The contract at many addresses: each has its own record. */
export function compileContracts(count: number): VerifiedContract[] {
  const solc = createRequire(import.meta.url)('solc') as {
    compile: (input: string) => string;
    version: () => string;
  };
  const { input, name, target } = ERC721_ENUMERABLE;
  const settings = {
    ...input.settings,
    outputSelection: { '*': { '*': ['*'], '': [] } },
  };
  const output = JSON.parse(solc.compile(JSON.stringify({ ...input, settings }))) as CompilerOutput;
  const contract = output.contracts[target.path]?.[name];
  if (contract === undefined) throw new Error('the contract of the benchmark was not compiled');
  const { evm, metadata, abi, userdoc, devdoc, storageLayout } = contract;
  const codeOf = ({ object }: CompiledCode): Buffer => hexToBytes(`0x${object}`);
  const artifactsOf = ({ sourceMap, linkReferences, immutableReferences }: CompiledCode) => ({
    ...{ sourceMap, linkReferences, immutableReferences, cborAuxdata: {} },
  });
  const compilation = {
    language: 'solidity',
    compiler: 'solc',
    version: solc.version().replace(/\.Emscripten.*/, ''),
    name,
    fullyQualifiedName: `${target.path}:${name}`,
    settings: input.settings as Record<string, unknown>,
    artifacts: { abi, userdoc, devdoc, storageLayout, sources: output.sources },
    metadata,
    creationCode: codeOf(evm.bytecode),
    runtimeCode: codeOf(evm.deployedBytecode),
    creationCodeArtifacts: artifactsOf(evm.bytecode),
    runtimeCodeArtifacts: artifactsOf(evm.deployedBytecode),
    sources: Object.entries(input.sources as Record<string, { content: string }>).map(
      ([source, { content }]) => ({ path: source, content }),
    ),
  };
  const { creationCode, runtimeCode } = compilation;
  return Array.from({ length: count }, (_, index) => ({
    chainId: 1,
    address: sampleAddress(index + 1),
    runtimeMatch: 'full',
    creationMatch: 'full',
    origin: 'verified',
    deployment: { creationCode, runtimeCode, blockNumber: index, transactionIndex: 0 },
    compilation,
    creation: { transformations: [], values: {} },
    runtime: { transformations: [], values: {} },
  }));
}

/** Requests each record once, one after the other. */
async function fireOnce(urls: readonly string[], pid: number, coding: string): Promise<Fired> {
  const before = await processorTimeOf(pid);
  const start = performance.now();
  for (const url of urls) {
    const response = await fetch(url, { headers: { 'accept-encoding': coding } });
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
    await response.arrayBuffer();
  }
  const perSecond = (urls.length * 1000) / (performance.now() - start);
  return { perSecond, cpuMs: ((await processorTimeOf(pid)) - before) / urls.length };
}

/** A line of the table. */
export interface RecordBenchmarkRow {
  readonly what: string;
  readonly 'req/s': number;
  readonly 'CPU ms': number;
  /** CPU time per request of the bare server in the same rounds. */
  readonly 'bare CPU ms': number | string;
  readonly ratio: number | string;
}

/** Measures records of the built program. */
export async function runRecordBenchmark(): Promise<readonly RecordBenchmarkRow[]> {
  const folder = await createTemporaryFolder();
  const dataDir = path.join(folder.path, 'data');
  const store = await openStore({ dataDir, poolSize: 2 }, silentLogger);
  await saveMatches(store.database, compileContracts(1 + WARM_UP + 3 * ROUNDS * COLD_PER_ROUND));
  await store.close();
  const program = await startProgram({
    environment: { ...ALL_CHAINS, FULLMATCH_DATA_DIR: dataDir },
  });
  const pid = program.child.pid ?? 0;
  const urlOf = (number: number): string =>
    `${program.apiUrl}/v2/contract/1/${sampleAddress(number)}?fields=all`;
  let next = 1;
  const fresh = (count: number): string[] =>
    Array.from({ length: count }, () => urlOf((next += 1) - 1));
  const hot = urlOf((next += 1) - 1);
  const bare = await startBare(hot);
  try {
    const first = await fetch(hot);
    console.log(`the record has ${(await first.arrayBuffer()).byteLength} bytes`);
    const held = { 'if-none-match': first.headers.get('etag') ?? '' };
    await waitUntilIdle(pid);
    await fireOnce(fresh(WARM_UP), pid, 'identity');
    const cold = (coding: string): Promise<RecordBenchmarkRow> =>
      measureCold(`first, ${coding}`, () => fireOnce(fresh(COLD_PER_ROUND), pid, coding));
    const again = (what: string, headers: Record<string, string>): Promise<RecordBenchmarkRow> =>
      measureHot(what, headers, {
        bare: { url: bare.url, pid: bare.child.pid ?? 0 },
        own: { url: hot, pid },
      });
    const rows = [
      await cold('identity'),
      await cold('gzip'),
      await cold('br'),
      await again('again, identity', {}),
      await again('again, gzip', { 'accept-encoding': 'gzip' }),
      await again('again, br', { 'accept-encoding': 'br' }),
      await again('unchanged (304)', held),
    ];
    console.table(rows);
    return rows;
  } finally {
    bare.child.disconnect();
    program.child.kill('SIGTERM');
    await program.ended;
    await folder.remove();
  }
}

async function measureCold(what: string, work: () => Promise<Fired>): Promise<RecordBenchmarkRow> {
  const rounds: Fired[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await work());
  return { ...rowOf(what, rounds), 'bare CPU ms': '', ratio: '' };
}

async function measureHot(
  what: string,
  headers: Record<string, string>,
  { bare, own }: { readonly bare: Server; readonly own: Server },
): Promise<RecordBenchmarkRow> {
  const load = { headers, connections: CONNECTIONS, seconds: ROUND_SECONDS };
  for (const server of [bare, own]) await measureRequests(server, load);
  const rounds: { own: Fired; bare: Fired }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const fired = await measureRequests(bare, load);
    rounds.push({ bare: fired, own: await measureRequests(own, load) });
  }
  const ratio = median(rounds.map((round) => round.bare.cpuMs / round.own.cpuMs));
  return {
    ...rowOf(
      what,
      rounds.map((round) => round.own),
    ),
    'bare CPU ms': Number(median(rounds.map((round) => round.bare.cpuMs)).toFixed(3)),
    ratio: Number(ratio.toFixed(2)),
  };
}

function rowOf(
  what: string,
  rounds: readonly Fired[],
): Pick<RecordBenchmarkRow, 'what' | 'req/s' | 'CPU ms'> {
  return {
    what,
    'req/s': Math.round(median(rounds.map(({ perSecond }) => perSecond))),
    'CPU ms': Number(median(rounds.map(({ cpuMs }) => cpuMs)).toFixed(3)),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runRecordBenchmark();
