/** The HTTP benchmark: `npx tsx bench/http.ts`. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { median } from './median.ts';

const ROUNDS = 7;
const ROUND_SECONDS = 2;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 16;

interface Case {
  readonly name: string;
  readonly document: 'chains' | 'statistics';
  readonly headers: Readonly<Record<string, string>>;
  /** The least ratio to the bare server that we aim at. */
  readonly aim: number;
}

const CASES: readonly Case[] = [
  { name: '/chains identity', document: 'chains', headers: {}, aim: 0.95 },
  { name: '/chains gzip', document: 'chains', headers: { 'accept-encoding': 'gzip' }, aim: 0.95 },
  { name: '/chains br', document: 'chains', headers: { 'accept-encoding': 'br' }, aim: 0.95 },
  { name: '/chains 304', document: 'chains', headers: { 'if-none-match': '*' }, aim: 0.9 },
  { name: '/stats.json identity', document: 'statistics', headers: {}, aim: 0.9 },
  {
    name: '/stats.json gzip',
    document: 'statistics',
    headers: { 'accept-encoding': 'gzip' },
    aim: 0.9,
  },
  { name: '/stats.json 304', document: 'statistics', headers: { 'if-none-match': '*' }, aim: 0.9 },
];

/** One line of the benchmark's table. */
export interface HttpBenchmarkRow {
  readonly name: string;
  /** Requests per second, medians over the rounds. */
  readonly bare: number;
  readonly fullmatch: number;
  /** The median of the ratios of the rounds: a round's two servers saw the same machine. */
  readonly ratio: number;
  readonly aim: number;
  /** The bare server's CPU time for a request by ours: less troubled by what else the machine does. */
  readonly cpuRatio: number;
}

interface BenchmarkedServer {
  readonly port: number;
  readonly child: ChildProcess;
}

interface Fired {
  readonly perSecond: number;
  /** CPU time of the server for one request, in microseconds. */
  readonly cpu: number;
}

/**
 * Measures the two documents against bare node:http handlers that send the same answers, byte for byte. The servers are processes of
 * their own and take turns within each round, in changing order, so that what else the machine does meets both.
 */
export async function runHttpBenchmark(): Promise<readonly HttpBenchmarkRow[]> {
  const servers = new Map<string, BenchmarkedServer>();
  for (const document of ['chains', 'statistics'] as const) {
    for (const kind of ['bare', 'fullmatch'])
      servers.set(`${kind} ${document}`, await start(kind, document));
  }
  const rows: HttpBenchmarkRow[] = [];
  try {
    for (const each of CASES) {
      const server = (kind: string): BenchmarkedServer => servers.get(`${kind} ${each.document}`)!;
      rows.push(await measure(each, server('bare'), server('fullmatch')));
    }
  } finally {
    for (const { child } of servers.values()) child.disconnect();
  }
  print(rows);
  return rows;
}

async function start(kind: string, document: string): Promise<BenchmarkedServer> {
  const file = fileURLToPath(new URL('http-server.ts', import.meta.url));
  const child = fork(file, [kind, document], { execArgv: ['--import', 'tsx'] });
  return { port: await nextMessage(child), child };
}

function nextMessage(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void =>
      reject(new Error(`a server ended with ${String(code)}`));
    child.once('exit', fail);
    child.once('message', (message) => {
      child.off('exit', fail);
      resolve(message as number);
    });
  });
}

async function fire(server: BenchmarkedServer, each: Case, seconds: number): Promise<Fired> {
  const path = each.document === 'chains' ? '/chains' : '/stats.json';
  const cpuTime = (): Promise<number> => {
    server.child.send('cpu');
    return nextMessage(server.child);
  };
  const before = await cpuTime();
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}${path}`,
    connections: CONNECTIONS,
    duration: seconds,
    headers: each.headers,
  });
  const failed = result.errors + result['4xx'] + result['5xx'];
  if (failed > 0) throw new Error(`${each.name}: ${failed} requests failed`);
  return {
    perSecond: result.requests.average,
    cpu: ((await cpuTime()) - before) / result.requests.total,
  };
}

async function measure(
  each: Case,
  bare: BenchmarkedServer,
  own: BenchmarkedServer,
): Promise<HttpBenchmarkRow> {
  for (const server of [bare, own]) await fire(server, each, WARM_UP_SECONDS);
  const rounds: { bare: Fired; own: Fired }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bareFirst = round % 2 === 0 ? await fire(bare, each, ROUND_SECONDS) : undefined;
    const ownFired = await fire(own, each, ROUND_SECONDS);
    rounds.push({ own: ownFired, bare: bareFirst ?? (await fire(bare, each, ROUND_SECONDS)) });
  }
  return {
    name: each.name,
    bare: median(rounds.map((round) => round.bare.perSecond)),
    fullmatch: median(rounds.map((round) => round.own.perSecond)),
    ratio: median(rounds.map((round) => round.own.perSecond / round.bare.perSecond)),
    aim: each.aim,
    cpuRatio: median(rounds.map((round) => round.bare.cpu / round.own.cpu)),
  };
}

function print(rows: readonly HttpBenchmarkRow[]): void {
  console.table(
    Object.fromEntries(
      rows.map(({ name, bare, fullmatch, ratio, aim, cpuRatio }) => [
        name,
        {
          'bare req/s': Math.round(bare),
          'fullmatch req/s': Math.round(fullmatch),
          ratio: Number(ratio.toFixed(3)),
          aim,
          'CPU ratio': Number(cpuRatio.toFixed(3)),
        },
      ]),
    ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runHttpBenchmark();
