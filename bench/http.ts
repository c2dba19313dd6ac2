/**
 * The HTTP benchmark: `npx tsx bench/http.ts`. The built program runs as with `fullmatch start`, with metrics
 * and limits enabled. A bare node:http handler sends the same responses, byte for byte. The benchmark
 * compares the CPU time of each process per request (utime + stime), which neither the client nor other work
 * on the machine changes much; the client has its own threads and is not the bottleneck.
 *
 * The same bare handler also runs inside the process of the service. What the service needs beyond that one is the cost
 * of its own code; the rest of the difference is the cost of a process that has done other work before.
 */
import { type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '../src/log.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { openStore } from '../src/store/open-store.ts';
import { ALL_CHAINS, startProgram } from '../test/support/booted-service.ts';
import { findFreePort } from '../test/support/free-port.ts';
import { sampleAddress, sampleContract } from '../test/support/sample-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { median } from './median.ts';
import { measureRequests, type Fired, type Server } from './measure-requests.ts';
import { bareInside, prepareBare, startBare } from './start-bare.ts';

const ROUNDS = 5;
const ROUND_SECONDS = 2;
const CONNECTIONS = 64;
/** Chains with contracts: the number of keys in stats.json of a large repository in 2026. */
const CHAINS_WITH_CONTRACTS = 374;
const BR_TIMEOUT_MS = 60_000;

interface Case {
  readonly name: string;
  readonly document: 'chains' | 'statistics';
  readonly headers: Readonly<Record<string, string>>;
  /** The target ratio to the bare server. */
  readonly aim: number;
}

const CASES: readonly Case[] = (['chains', 'statistics'] as const).flatMap((document) => {
  const name = document === 'chains' ? '/chains' : '/stats.json';
  return [
    { name: `${name} identity`, document, headers: {}, aim: 0.85 },
    {
      name: `${name} gzip`,
      document,
      headers: { 'accept-encoding': 'gzip' },
      aim: document === 'chains' ? 0.9 : 0.85,
    },
    { name: `${name} br`, document, headers: { 'accept-encoding': 'br' }, aim: 0.85 },
    { name: `${name} 304`, document, headers: { 'if-none-match': '*' }, aim: 0.85 },
  ];
});

/** One line of the benchmark's table. */
export interface HttpBenchmarkRow {
  readonly name: string;
  /** CPU time per request in microseconds, medians over the rounds. */
  readonly bare: number;
  /** Of the bare handler in the process of the service. */
  readonly inside: number;
  readonly fullmatch: number;
  /** Requests per second of our service, median over the rounds. */
  readonly perSecond: number;
  /** The bare server's CPU time divided by ours: the median of the ratios of the rounds. */
  readonly ratio: number;
  /** The same with the bare handler in the process of the service. */
  readonly insideRatio: number;
  readonly aim: number;
}

function fire(server: Server, { headers }: Case): Promise<Fired> {
  return measureRequests(server, { headers, connections: CONNECTIONS, seconds: ROUND_SECONDS });
}

/** The servers that send one document: the bare one, the same in the process of the service, and the service. */
interface Servers {
  readonly bare: Server;
  readonly inside: Server;
  readonly own: Server;
}

async function measure(each: Case, servers: Servers): Promise<HttpBenchmarkRow> {
  const order = ['bare', 'own', 'inside'] as const;
  const fired: Record<keyof Servers, Fired[]> = { bare: [], own: [], inside: [] };
  for (const name of order) await fire(servers[name], each);
  for (let round = 0; round < ROUNDS; round += 1) {
    // In alternating order, so that other activity on the machine affects all of them.
    for (const name of round % 2 === 0 ? order : order.toReversed()) {
      fired[name].push(await fire(servers[name], each));
    }
  }
  const medianOf = (name: keyof Servers): number =>
    1000 * median(fired[name].map(({ cpuMs }) => cpuMs));
  const ratioTo = (name: keyof Servers): number =>
    median(fired.own.map((own, round) => (fired[name][round]?.cpuMs ?? NaN) / own.cpuMs));
  return {
    name: each.name,
    bare: medianOf('bare'),
    inside: medianOf('inside'),
    fullmatch: medianOf('own'),
    perSecond: median(fired.own.map(({ perSecond }) => perSecond)),
    ratio: ratioTo('bare'),
    insideRatio: ratioTo('inside'),
    aim: each.aim,
  };
}

/** The br body is available later than the others. */
async function waitForBr(url: string): Promise<void> {
  const start = performance.now();
  for (;;) {
    const answer = await fetch(url, { headers: { 'accept-encoding': 'br' } });
    await answer.arrayBuffer();
    if (answer.headers.get('content-encoding') === 'br') return;
    if (performance.now() - start > BR_TIMEOUT_MS) throw new Error(`${url} has no br body`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Measures both documents of the started program against bare handlers that send the same. */
export async function runHttpBenchmark(): Promise<readonly HttpBenchmarkRow[]> {
  const folder = await createTemporaryFolder('fullmatch-bench-');
  const dataDir = path.join(folder.path, 'data');
  const insidePort = await findFreePort();
  const program = await startProgram({
    environment: {
      ...ALL_CHAINS,
      ...(await bareInside(insidePort)),
      FULLMATCH_DATA_DIR: dataDir,
      FULLMATCH_METRICS_ENABLED: 'true',
      FULLMATCH_METRICS_PORT: '0',
    },
  });
  const children: ChildProcess[] = [];
  try {
    const store = await openStore({ poolSize: 2, dataDir }, silentLogger);
    for (let chainId = 1; chainId <= CHAINS_WITH_CONTRACTS; chainId += 1) {
      const contract = sampleContract(chainId, sampleAddress(1), { runtimeMatch: 'full' });
      await saveMatch(store.database, contract);
    }
    await store.close();
    const urls = {
      chains: `${program.apiUrl}/chains`,
      statistics: `${program.repositoryUrl}/stats.json`,
    };
    // Waits until the counts of all of them are published.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const rows: HttpBenchmarkRow[] = [];
    for (const document of ['chains', 'statistics'] as const) {
      await waitForBr(urls[document]);
      const { url, child } = await startBare(urls[document]);
      children.push(child);
      const pid = program.child.pid ?? 0;
      const servers = {
        bare: { url, pid: child.pid ?? 0 },
        inside: { url: `http://127.0.0.1:${insidePort}/`, pid },
        own: { url: urls[document], pid },
      };
      await prepareBare(servers.inside.url, servers.own.url);
      for (const each of CASES.filter((one) => one.document === document)) {
        rows.push(await measure(each, servers));
      }
    }
    print(rows);
    return rows;
  } finally {
    for (const child of children) child.disconnect();
    program.child.kill('SIGTERM');
    await program.ended;
    await folder.remove();
  }
}

function print(rows: readonly HttpBenchmarkRow[]): void {
  console.table(
    Object.fromEntries(
      rows.map(({ name, bare, inside, fullmatch, perSecond, ratio, insideRatio, aim }) => [
        name,
        {
          'bare µs': Math.round(bare),
          'bare in the service µs': Math.round(inside),
          'fullmatch µs': Math.round(fullmatch),
          'fullmatch req/s': Math.round(perSecond),
          ratio: Number(ratio.toFixed(2)),
          'in the service': Number(insideRatio.toFixed(2)),
          aim,
        },
      ]),
    ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runHttpBenchmark();
