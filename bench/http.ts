/** The HTTP benchmark: `npx tsx bench/http.ts`. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

const ROUNDS = 7;
const ROUND_SECONDS = 2;
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
}

/**
 * Measures the two documents against bare node:http handlers that send the same bytes. The servers are processes of
 * their own and take turns within each round, in changing order, so that what else the machine does meets both.
 */
export async function runHttpBenchmark(): Promise<readonly HttpBenchmarkRow[]> {
  const servers = new Map<string, { port: number; child: ChildProcess }>();
  for (const document of ['chains', 'statistics'] as const) {
    for (const kind of ['bare', 'fullmatch'])
      servers.set(`${kind} ${document}`, await start(kind, document));
  }
  const rows: HttpBenchmarkRow[] = [];
  try {
    for (const each of CASES) {
      const portOf = (kind: string): number => servers.get(`${kind} ${each.document}`)!.port;
      rows.push(await measure(each, portOf('bare'), portOf('fullmatch')));
    }
  } finally {
    for (const { child } of servers.values()) child.disconnect();
  }
  print(rows);
  return rows;
}

async function start(
  kind: string,
  document: string,
): Promise<{ port: number; child: ChildProcess }> {
  const file = fileURLToPath(new URL('http-server.ts', import.meta.url));
  const child = fork(file, [kind, document], { execArgv: ['--import', 'tsx'] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(message as number));
    child.once('exit', (code) => reject(new Error(`${kind} server ended with ${String(code)}`)));
  });
  return { port, child };
}

async function measure(each: Case, barePort: number, ownPort: number): Promise<HttpBenchmarkRow> {
  const path = each.document === 'chains' ? '/chains' : '/stats.json';
  const fire = async (port: number, seconds: number): Promise<number> => {
    const url = `http://127.0.0.1:${port}${path}`;
    const result = await autocannon({
      url,
      connections: CONNECTIONS,
      duration: seconds,
      headers: each.headers,
    });
    if (result.errors > 0 || result['4xx'] + result['5xx'] > 0)
      throw new Error(`${each.name} failed`);
    return result.requests.average;
  };
  await fire(barePort, 1);
  await fire(ownPort, 1);
  const rounds: { bare: number; own: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bareFirst = round % 2 === 0 ? await fire(barePort, ROUND_SECONDS) : undefined;
    const own = await fire(ownPort, ROUND_SECONDS);
    rounds.push({ own, bare: bareFirst ?? (await fire(barePort, ROUND_SECONDS)) });
  }
  return {
    name: each.name,
    bare: median(rounds.map(({ bare }) => bare)),
    fullmatch: median(rounds.map(({ own }) => own)),
    ratio: median(rounds.map(({ bare, own }) => own / bare)),
    aim: each.aim,
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function print(rows: readonly HttpBenchmarkRow[]): void {
  console.table(
    Object.fromEntries(
      rows.map(({ name, bare, fullmatch, ratio, aim }) => [
        name,
        {
          'bare req/s': Math.round(bare),
          'fullmatch req/s': Math.round(fullmatch),
          ratio: Number(ratio.toFixed(3)),
          aim,
        },
      ]),
    ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runHttpBenchmark();
