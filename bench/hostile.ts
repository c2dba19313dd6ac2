/**
 * How hostile clients affect everybody else: `npx tsx bench/hostile.ts [--only name] [--seconds N]
 * [--json]`. The built program runs as with `fullmatch start`, on its embedded database and its own anvil.
 * Each load runs for a while in its own process, with a probe in another process that also requests the same
 * bytes from a bare node:http handler: no load uses that one, so only the machine delays it. Goals: the
 * probe's p99 stays below 100 ms, the service's resident memory below 600 MB, nothing acknowledged is lost,
 * and afterwards everything is as before. All traffic stays on 127.0.0.0/8.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { silentLogger } from '../src/log.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { openStore, type Store } from '../src/store/open-store.ts';
import { cancelJob } from '../src/verification/jobs/run-jobs.ts';
import {
  configOf,
  deploy,
  startAnvil,
  VERIFIED_CHAIN_ID,
  type Anvil,
} from '../test/support/anvil.ts';
import { ALL_CHAINS, PROGRAM, startProgram } from '../test/support/booted-service.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { compileAsDeveloper, inputOf } from '../test/support/developer.ts';
import { pollJob, post } from '../test/support/verification-client.ts';
import { readResident } from './child-compilers.ts';
import {
  BARE_ROUTE,
  bodyOfSource,
  PROXY_ADDRESS,
  type HostileContext,
  type LoadTally,
  type ProbeReport,
  type ProbeWork,
} from './hostile/context.ts';
import { LOADS } from './hostile/loads.ts';
import { startBare, type BareServer } from './start-bare.ts';

const PROBED = 'contract A { uint public probed = 7; }';
const TARGET = 'contract A { uint public target; function f() public { target += 3; } }';
const LARGE_CODE_BYTES = 900_000;
const MANY_FILES = 60_000;
const HIDDEN_CHARACTERS = 300_000;
/** Extra contracts for the probe, which verifies one per second, to cover the time around a load. */
const SPARE_CONTRACTS = 60;
const SAMPLE_MS = 50;
const IDLE_RESOLUTION_MS = 10;
const LEAD_MS = 1_500;
const REST_MS = 5_000;
const AIM = { p99Ms: 100, residentBytes: 600e6 };
const MAX_BUFFER = 2 ** 28;
const TSX = import.meta.resolve('tsx');

type Program = Awaited<ReturnType<typeof startProgram>>;

interface Site {
  readonly anvil: Anvil;
  readonly program: Program;
  readonly store: Store;
  readonly bare: BareServer;
  readonly context: HostileContext;
}

/** State compared before and after a load. */
interface Condition {
  readonly documents: Readonly<Record<string, string>>;
  readonly verified: number;
}

interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly statuses: Readonly<Record<string, number>>;
}

interface LoadResult {
  readonly load: string;
  readonly routes: Readonly<Record<string, Quantiles>>;
  readonly residentMax: number;
  readonly residentAfter: number;
  readonly loopStallMs: number | null;
  /** Timer delay of this otherwise idle process: p99 and maximum. This is the machine's own latency. */
  readonly idleStallMs: readonly [number, number];
  readonly answers: Readonly<Record<string, number>>;
  readonly note?: string;
  readonly faults: readonly string[];
  readonly met: boolean;
}

function quantilesOf(times: readonly number[], statuses: Record<string, number>): Quantiles {
  const sorted = [...times].sort((left, right) => left - right);
  const at = (share: number): number =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) * 10) /
    10;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1), statuses };
}

async function deployMany(anvil: Anvil, source: string, count: number): Promise<string[]> {
  const { creationCode } = await compileAsDeveloper(
    '0.8.37',
    inputOf({ 'a.sol': source }),
    'a.sol',
    'A',
  );
  const addresses: string[] = [];
  for (let index = 0; index < count; index += 1) {
    addresses.push((await deploy(anvil, creationCode)).address);
  }
  return addresses;
}

async function submit(apiUrl: string, address: string, body: object): Promise<string | undefined> {
  const response = await post(`${apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, body);
  const answer = (await response.json()) as { verificationId?: string };
  if (answer.verificationId === undefined) return undefined;
  await pollJob(apiUrl, answer.verificationId);
  return answer.verificationId;
}

/** Finds a job that fails with the largest bytecode that the service accepts, or undefined if it accepts none. */
async function failLargely(anvil: Anvil, apiUrl: string): Promise<string | undefined> {
  const digits = createHash('shake256', { outputLength: LARGE_CODE_BYTES }).update('a').digest();
  const address = `0x${'1a'.repeat(20)}`;
  await anvil.request('anvil_setCode', [address, `0x60${digits.toString('hex')}`]);
  const literal = createHash('shake256', { outputLength: LARGE_CODE_BYTES / 2 }).update('b');
  const source = `contract A { function f() public pure returns (bytes memory) { return hex"${literal.digest('hex')}"; } }`;
  return submit(apiUrl, address, bodyOfSource(source)).catch(() => undefined);
}

/** Verifies a contract with as many files as the service accepts besides the required one. */
async function verifyWithManyFiles(apiUrl: string, address: string): Promise<void> {
  const extra = Array.from({ length: MANY_FILES }, (_, index) => [
    `f${index}.sol`,
    { content: `//${index}` },
  ]);
  const body = bodyOfSource(PROBED) as { stdJsonInput: { sources: object } };
  const sources = { ...body.stdJsonInput.sources, ...(Object.fromEntries(extra) as object) };
  const input = { ...body.stdJsonInput, sources };
  await submit(apiUrl, address, { ...body, stdJsonInput: input }).catch(() => undefined);
  await submit(apiUrl, address, bodyOfSource(PROBED)).catch(() => undefined);
}

/** The configuration, with the trusted proxy in versions that support it. */
async function configure(folder: string, anvil: Anvil): Promise<string> {
  const file = path.join(folder, 'fullmatch.yaml');
  const plain = configOf(anvil, 'metrics: { enabled: true, port: 0 }\n');
  await writeFile(file, `${plain}http: { trustedProxies: [${PROXY_ADDRESS}] }\n`);
  const check = promisify(execFile)(process.execPath, [PROGRAM, 'config', 'check'], {
    env: { PATH: process.env['PATH'], FULLMATCH_CONFIG: file },
  });
  const known = await check.then(
    () => true,
    () => false,
  );
  if (!known) await writeFile(file, plain);
  return file;
}

async function prepare(folder: string, seconds: number): Promise<Site> {
  const anvil = await startAnvil({ chainId: VERIFIED_CHAIN_ID });
  const config = await configure(folder, anvil);
  const dataDir = path.join(folder, 'data');
  const program = await startProgram({
    environment: { ...ALL_CHAINS, FULLMATCH_CONFIG: config, FULLMATCH_DATA_DIR: dataDir },
  });
  const store = await openStore({ poolSize: 2, dataDir, migrate: false }, silentLogger);
  const targets = await deployMany(anvil, TARGET, 200);
  const [verified = '', manyFiles = '', hidden = ''] = await deployMany(anvil, PROBED, 3);
  await submit(program.apiUrl, verified, bodyOfSource(PROBED));
  await verifyWithManyFiles(program.apiUrl, manyFiles);
  const comment = `// ${'\u200b'.repeat(HIDDEN_CHARACTERS)}`;
  await submit(program.apiUrl, hidden, bodyOfSource(`${comment}\n${PROBED}`));
  const largeJob = await failLargely(anvil, program.apiUrl);
  const bare = await startBare(`${program.apiUrl}/chains`);
  const portOf = (url: string): number => Number(new URL(url).port);
  const context: HostileContext = {
    ...{ apiPort: portOf(program.apiUrl), barePort: portOf(bare.url) },
    ...{ chainId: VERIFIED_CHAIN_ID, seconds },
    ...{ verified, manyFiles, hidden, targets },
    ...(largeJob !== undefined && { largeJob }),
  };
  return { anvil, program, store, bare, context };
}

async function readCondition({ program, context }: Site): Promise<Condition> {
  const hashOf = async (url: string): Promise<string> => {
    const response = await fetch(url);
    const hash = createHash('sha256').update(Buffer.from(await response.arrayBuffer()));
    return `${response.status} ${hash.digest('hex')}`;
  };
  const statistics = (await (await fetch(`${program.repositoryUrl}/stats.json`)).json()) as Record<
    string,
    { full_match: number }
  >;
  return {
    documents: {
      '/chains': await hashOf(`${program.apiUrl}/chains`),
      '/v2/contract': await hashOf(
        `${program.apiUrl}/v2/contract/${context.chainId}/${context.verified}?fields=all`,
      ),
      ready: String((await fetch(`${program.apiUrl}/readyz`)).status),
    },
    verified: statistics[context.chainId]?.full_match ?? 0,
  };
}

/** The longest event loop stall since the last call; null if not reported. */
async function readLoopStall({ program }: Site): Promise<number | null> {
  const line = program.lines.find((each) => each.includes('"event":"ready"')) ?? '{}';
  const { metrics_url: url } = JSON.parse(line) as { metrics_url?: string };
  if (url === undefined) return null;
  const response = await fetch(url.endsWith('/metrics') ? url : `${url}/metrics`);
  const stall = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(await response.text())?.[1];
  return stall === undefined ? null : Math.round(Number(stall) * 1000);
}

function watchResident(pid: number): { stop: () => number } {
  let most = 0;
  const timer = setInterval(() => {
    void readResident(pid).then((bytes) => (most = Math.max(most, bytes)));
  }, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

/** Converts an event loop delay from nanoseconds to milliseconds, without the sampling interval. */
const lateness = (nanoseconds: number): number =>
  Math.max(0, Math.round(nanoseconds / 1e6 - IDLE_RESOLUTION_MS));

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function startProbe(context: HostileContext, work: ProbeWork): { end: () => Promise<ProbeReport> } {
  const script = new URL('hostile/run-probe.ts', import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    ['--import', TSX, script, JSON.stringify(context), JSON.stringify(work)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = once(child, 'close');
  return {
    end: async () => {
      child.kill('SIGTERM');
      await closed;
      return JSON.parse(Buffer.concat(chunks).toString()) as ProbeReport;
    },
  };
}

async function runLoad(name: string, context: HostileContext): Promise<LoadTally> {
  const script = new URL('hostile/run-load.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', TSX, '--max-old-space-size=6000', script, name, JSON.stringify(context)],
    { maxBuffer: MAX_BUFFER },
  );
  return JSON.parse(stdout) as LoadTally;
}

/**
 * Cancels jobs that a load left in the queue.
 * @returns the acknowledged jobs that no longer exist.
 */
async function settleJobs({ store }: Site, ids: readonly string[]): Promise<string[]> {
  for (const id of ids) await cancelJob(store.database, id).catch(() => false);
  const deadline = Date.now() + REST_MS * 4;
  for (;;) {
    const rows = await store.database.query<{ id: string; state: string }>(
      {
        label: 'bench jobs',
        text: 'SELECT id, state FROM verification_jobs WHERE id = ANY ($1::uuid[])',
      },
      [ids],
    );
    const working = rows.filter(({ state }) => state === 'queued' || state === 'running');
    if (working.length > 0 && Date.now() < deadline) {
      await sleep(100);
      continue;
    }
    const known = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => !known.has(id));
  }
}

async function measure(site: Site, name: string): Promise<LoadResult> {
  const { anvil, program, context } = site;
  const pid = program.child.pid ?? 0;
  const addresses = await deployMany(anvil, PROBED, context.seconds + SPARE_CONTRACTS);
  const before = await readCondition(site);
  const probe = startProbe(context, { addresses, body: bodyOfSource(PROBED) });
  await sleep(LEAD_MS);
  await readLoopStall(site);
  const resident = watchResident(pid);
  const idle = monitorEventLoopDelay({ resolution: IDLE_RESOLUTION_MS });
  idle.enable();
  const tally: LoadTally =
    name === 'nothing'
      ? await sleep(context.seconds * 1000).then(() => ({ statuses: {}, jobs: [] }))
      : await runLoad(name, context);
  const report = await probe.end();
  idle.disable();
  const idleStallMs = [lateness(idle.percentile(99)), lateness(idle.max)] as const;
  const loopStallMs = await readLoopStall(site).catch(() => null);
  const residentMax = resident.stop();
  await sleep(REST_MS);
  const residentAfter = await readResident(pid).catch(() => 0);
  const faults: string[] = [];
  const lost = await settleJobs(site, [...tally.jobs, ...report.jobs]);
  if (lost.length > 0) faults.push(`${lost.length} acknowledged jobs are gone`);
  const after = await readCondition(site);
  for (const [document, hash] of Object.entries(before.documents)) {
    if (after.documents[document] !== hash) faults.push(`${document} is not as before`);
  }
  const gained = after.verified - before.verified;
  if (gained < report.matched.length) {
    faults.push(`${report.matched.length} contracts matched and ${gained} are counted`);
  }
  const { differences } = await recount(site.store.database, { repair: false });
  if (differences.length > 0) faults.push(`recount finds ${differences.length} differences`);
  const routes = Object.fromEntries(
    Object.entries(report.routes).map(([route, { times, statuses }]) => [
      route,
      quantilesOf(times, statuses),
    ]),
  );
  const documents = ['GET /chains', 'GET /v2/contract'].map((route) => routes[route]);
  const met =
    faults.length === 0 &&
    residentMax <= AIM.residentBytes &&
    documents.every(
      (route) =>
        route !== undefined &&
        route.p99 <= AIM.p99Ms &&
        Object.keys(route.statuses).every((status) => status === '200'),
    );
  return {
    ...{ load: name, routes, residentMax, residentAfter, loopStallMs, idleStallMs },
    answers: tally.statuses,
    ...(tally.note !== undefined && { note: tally.note }),
    ...{ faults, met },
  };
}

const countsOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([status, count]) => `${status}×${count}`)
    .join(' ');

function rowOf(result: LoadResult): string {
  const { routes, loopStallMs, idleStallMs, faults, note } = result;
  const cell = (route: string): string => {
    const found = routes[route];
    if (found === undefined) return '-';
    const others = Object.entries(found.statuses).filter(
      ([status]) => !['200', '202', 'matched'].includes(status),
    );
    const odd = others.length === 0 ? '' : ` (${countsOf(Object.fromEntries(others))})`;
    return `${found.p50} / ${found.p99} / ${found.max}${odd}`;
  };
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
  return `| ${[
    result.load,
    cell('GET /chains'),
    cell('GET /v2/contract'),
    cell(BARE_ROUTE),
    cell('submit'),
    cell('verify'),
    loopStallMs ?? '-',
    idleStallMs.join(' / '),
    `${megabytes(result.residentMax)} → ${megabytes(result.residentAfter)}`,
    countsOf(result.answers) + (note === undefined ? '' : `; ${note}`),
    faults.join('; ') || 'none',
    result.met ? 'yes' : 'NO',
  ].join(' | ')} |`;
}

const HEAD = [
  'load',
  '/chains p50 / p99 / max ms',
  '/v2/contract',
  'bare node:http, not loaded',
  'submit',
  'submit → matched',
  'loop stall ms',
  'stall of an idle process, p99 / max ms',
  'RSS MB, most → 5 s after',
  'answers to the load',
  'faults',
  'aim met',
];

async function run(options: { only?: string; seconds: string; json?: boolean }): Promise<void> {
  const names =
    options.only === undefined ? ['nothing', ...Object.keys(LOADS)] : options.only.split(',');
  const unknown = names.filter((name) => name !== 'nothing' && LOADS[name] === undefined);
  if (unknown.length > 0) throw new Error(`unknown load ${unknown.join(', ')}`);
  const folder = await createTemporaryFolder('fullmatch-bench-');
  const results: LoadResult[] = [];
  const print = (line: string): void => {
    if (options.json === true) console.error(line);
    else console.log(line);
  };
  let site = await prepare(folder.path, Number(options.seconds));
  print(`| ${HEAD.join(' | ')} |\n| ${HEAD.map(() => '---').join(' | ')} |`);
  try {
    for (const [index, name] of names.entries()) {
      const result = await measure(site, name).catch((error: unknown): LoadResult => ({
        ...{ load: name, routes: {}, residentMax: 0, residentAfter: 0, loopStallMs: null },
        idleStallMs: [0, 0],
        answers: {},
        faults: [error instanceof Error ? error.message.slice(0, 200) : String(error)],
        met: false,
      }));
      const dead = site.program.child.exitCode ?? site.program.child.signalCode;
      const told =
        dead === null
          ? result
          : { ...result, faults: [...result.faults, `the service ended with ${dead}`] };
      results.push(told);
      print(rowOf(told));
      if (dead !== null) {
        await close(site);
        site = await prepare(path.join(folder.path, String(index)), Number(options.seconds));
      }
    }
  } finally {
    await close(site);
    await folder.remove();
  }
  print(
    `\nLoad average at the end: ${loadavg()
      .map((each) => each.toFixed(1))
      .join(' ')}`,
  );
  if (options.json === true) console.log(JSON.stringify(results, null, 2));
}

async function close({ anvil, program, store, bare }: Site): Promise<void> {
  bare.child.disconnect();
  await store.close().catch(() => undefined);
  program.child.kill('SIGTERM');
  await program.ended;
  await anvil.stop();
}

await new Command('hostile')
  .description('measure how hostile loads affect a probe running alongside them')
  .option('--only <names>', 'loads to run, separated by commas; "nothing" is the probe alone')
  .option('--seconds <number>', 'how long each load lasts', '8')
  .option('--json', 'print JSON, and the table on standard error')
  .action(run)
  .parseAsync();
