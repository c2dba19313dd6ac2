/**
 * Contract records: `npm run build && npx tsx bench/records.ts`. `fields=all` of an ERC-721: requested for
 * the first time, repeated, and cached by the client (304), compared with a bare node:http server that sends
 * the same bytes. The CPU time is that of the service's process with all threads, without PostgreSQL.
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import autocannon from 'autocannon';
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
import { waitUntilIdle } from './wait-until-idle.ts';

const ROUNDS = 3;
const ROUND_SECONDS = 1;
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

interface Fired {
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** @param headers of every request */
async function fire(url: string, pid: number, headers: Record<string, string>): Promise<Fired> {
  const before = await processorTimeOf(pid);
  const options = { url, connections: CONNECTIONS, duration: ROUND_SECONDS, headers };
  const result = await autocannon(options);
  if (result.errors + result['4xx'] + result['5xx'] > 0) throw new Error(`${url} failed`);
  const cpuMs = ((await processorTimeOf(pid)) - before) / result.requests.total;
  return { perSecond: result.requests.average, cpuMs };
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
  /** Requests per second of the bare server in the same rounds. */
  readonly 'bare req/s': number | string;
  readonly ratio: number | string;
}

/** A bare server in this process that sends one body; a request with If-None-Match gets 304. */
async function serveBare(
  body: Buffer,
  coding?: 'gzip',
): Promise<{ url: string; close: () => void }> {
  const headers = {
    'content-type': 'application/json',
    'content-length': body.byteLength,
    ...(coding && { 'content-encoding': coding }),
  };
  const server = createServer((request, response) => {
    if (request.headers['if-none-match'] !== undefined) response.writeHead(304).end();
    else response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** Measures records of the built program. */
export async function runRecordBenchmark(): Promise<readonly RecordBenchmarkRow[]> {
  const folder = await createTemporaryFolder();
  const dataDir = path.join(folder.path, 'data');
  const store = await openStore({ dataDir, poolSize: 2 }, silentLogger);
  await saveMatches(store.database, compileContracts(WARM_UP + 2 * ROUNDS * COLD_PER_ROUND));
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
  try {
    const hot = urlOf(1);
    const first = await fetch(hot, { headers: { 'accept-encoding': 'identity' } });
    const body = Buffer.from(await first.arrayBuffer());
    const tag = first.headers.get('etag') ?? '"none"';
    console.log(`the record has ${body.byteLength} bytes`);
    const bare = await serveBare(body);
    const gzipped = { 'accept-encoding': 'gzip' };
    const barePacked = await serveBare(gzipSync(body, { level: 1 }), 'gzip');
    await waitUntilIdle(pid);
    await fireOnce(fresh(WARM_UP), pid, 'identity');
    const rows = [
      await measureCold('first asked for', () => fireOnce(fresh(COLD_PER_ROUND), pid, 'identity')),
      await measureCold('first asked for, gzip', () =>
        fireOnce(fresh(COLD_PER_ROUND), pid, 'gzip'),
      ),
      await measureHot('asked for again', {}, hot, bare.url, pid),
      await measureHot('asked for again, gzip', gzipped, hot, barePacked.url, pid),
      await measureHot('held (304)', { 'if-none-match': tag }, hot, bare.url, pid),
    ];
    bare.close();
    barePacked.close();
    console.table(rows);
    return rows;
  } finally {
    program.child.kill('SIGTERM');
    await program.ended;
    await folder.remove();
  }
}

async function measureCold(what: string, work: () => Promise<Fired>): Promise<RecordBenchmarkRow> {
  const rounds: Fired[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await work());
  return { ...rowOf(what, rounds), 'bare req/s': '', ratio: '' };
}

async function measureHot(
  what: string,
  headers: Record<string, string>,
  url: string,
  bareUrl: string,
  pid: number,
): Promise<RecordBenchmarkRow> {
  await fire(url, pid, headers);
  const rounds: { own: Fired; bare: Fired }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await fire(bareUrl, process.pid, headers);
    rounds.push({ bare, own: await fire(url, pid, headers) });
  }
  const ratio = median(rounds.map(({ own, bare }) => own.perSecond / bare.perSecond));
  return {
    ...rowOf(
      what,
      rounds.map(({ own }) => own),
    ),
    'bare req/s': Math.round(median(rounds.map(({ bare }) => bare.perSecond))),
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
    'CPU ms': Number(median(rounds.map(({ cpuMs }) => cpuMs)).toFixed(2)),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runRecordBenchmark();
