import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sql } from '../src/store/database.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { startProgram, type ProgramRun } from './support/booted-service.ts';
import { ANVIL, LINUX, describeWith } from './support/needs.ts';
import { processorTimeOf } from './support/processor-time.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { pollJob, post } from './support/verification-client.ts';
import { startWebServer, type WebServer } from './support/web-server.ts';

const VERSION = '0.8.37';
/** Shutdown time that an operator's process manager allows. */
const STOP_MS = 10_000;
const TEST_MS = 180_000;
/** CPU time after which a compiler has nearly loaded: the large input takes at least another second. */
const AT_WORK_MS = 700;

const small: TestInput = inputOf({
  'Small.sol': 'contract Small { uint256 public x; constructor(uint256 y) { x = y; } }',
});
const LARGE_FUNCTIONS = Array.from(
  { length: 2000 },
  (_, index) => `function f${index}(uint256 a, uint256[] memory b) internal returns (uint256 s) {
    for (uint256 i; i < b.length; ++i) { s += b[i] * a + ${index}; x = s; }
  }`,
);
/** Takes more than a second to compile, since all of it is type-checked; little of it becomes bytecode. */
const large: TestInput = inputOf({
  'Large.sol': `contract Large { uint256 public x; constructor(uint256 y) { x = y; } ${LARGE_FUNCTIONS.join('\n')} }`,
});

const JOBS = sql(
  'test jobs of a process',
  `SELECT state::text, attempts, lease_until IS NULL AS free, event_id FROM verification_jobs ORDER BY created_at, id`,
);
const EVENTS = sql('test events of a process', 'SELECT count(*)::int AS count FROM match_events');
/** As if this much time had passed since the last heartbeat. */
const AGE_LEASES = sql(
  'test age leases',
  `UPDATE verification_jobs SET lease_until = lease_until - $1 * interval '1 second' WHERE state = 'running'`,
);
const FORGET = sql('test forget jobs', 'DELETE FROM verification_jobs');

interface JobRow {
  readonly state: string;
  readonly attempts: number;
  readonly free: boolean;
  readonly event_id: string | null;
}

/** A proxy in front of anvil that holds its responses while it stalls. */
interface StallingRpc extends WebServer {
  stall(): void;
  resume(): void;
  readonly held: () => number;
}

async function startStallingRpc(anvil: Anvil): Promise<StallingRpc> {
  let stalled = false;
  const held: (() => void)[] = [];
  const pass = async (body: string, response: ServerResponse): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(anvil.url, { method: 'POST', headers, body });
    response.writeHead(answer.status, headers).end(await answer.text());
  };
  const server = await startWebServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const go = (): void => void pass(body, response).catch(() => response.destroy());
      if (stalled) held.push(go);
      else go();
    });
  });
  return Object.assign(server, {
    stall: () => (stalled = true),
    resume: () => {
      stalled = false;
      for (const go of held.splice(0)) go();
    },
    held: () => held.length,
  });
}

/** Running compilers started by this process. */
async function compilersOf(parent: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const [stat, command] = await Promise.all(
      ['stat', 'cmdline'].map((file) => readFile(`/proc/${name}/${file}`, 'latin1')),
    ).catch(() => ['', '']);
    const [, parentId] = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ');
    if (Number(parentId) === parent && command?.includes('soljson-child')) found.push(Number(name));
  }
  return found;
}

const isAlive = async (pid: number): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // A zombie is no longer running.
  return stat !== '' && !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
};

describeWith([ANVIL, LINUX], 'jobs of an exiting process', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let rpc: StallingRpc;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let smallCode: string;
  let largeCode: string;
  let stored = 0;
  const running: ProgramRun[] = [];

  beforeAll(async () => {
    [testDatabase, anvil, folder] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTemporaryFolder(),
    ]);
    rpc = await startStallingRpc(anvil);
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), configOf(rpc));
    const { creationCode } = await compileAsDeveloper(VERSION, small, 'Small.sol', 'Small');
    smallCode = creationCode;
    largeCode = (await compileAsDeveloper(VERSION, large, 'Large.sol', 'Large')).creationCode;
  }, TEST_MS);
  afterEach(async () => {
    rpc.resume();
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
    await testDatabase.database.query(FORGET);
  });
  afterAll(async () => {
    await rpc.close();
    await anvil.stop();
    await testDatabase.drop();
    await folder.remove();
  });

  const start = async (): Promise<Awaited<ReturnType<typeof startProgram>>> => {
    const program = await startProgram({
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    });
    running.push(program);
    return program;
  };
  const jobs = (): Promise<JobRow[]> => testDatabase.database.query<JobRow>(JOBS);
  const states = async (): Promise<string[]> => (await jobs()).map(({ state }) => state);
  const word = (value: number): string => value.toString(16).padStart(64, '0');
  const submit = async (apiUrl: string, input: TestInput, code: string): Promise<string> => {
    const { address } = await deploy(anvil, code, word(7));
    const name = input === small ? 'Small' : 'Large';
    const response = await post(`${apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, {
      stdJsonInput: input,
      compilerVersion: VERSION,
      contractIdentifier: `${name}.sol:${name}`,
    });
    expect(response.status).toBe(202);
    return ((await response.json()) as { verificationId: string }).verificationId;
  };
  /** Each of the jobs stored one match, which both the event log and stats.json count once. */
  const expectStored = async (
    { apiUrl, repositoryUrl }: { apiUrl: string; repositoryUrl: string },
    ids: readonly string[],
  ): Promise<void> => {
    for (const id of ids) {
      expect((await pollJob(apiUrl, id)).contract.runtimeMatch).toBe('exact_match');
    }
    stored += ids.length;
    expect(await testDatabase.database.query(EVENTS)).toEqual([{ count: stored }]);
    expect(new Set((await jobs()).map(({ event_id: event }) => event)).size).toBe(ids.length);
    await expect
      .poll(async () => (await fetch(`${repositoryUrl}/stats.json`)).json())
      .toEqual({ [VERIFIED_CHAIN_ID]: { full_match: stored, partial_match: 0 } });
  };
  const endWith = async (program: ProgramRun): Promise<number | string> => {
    const begun = performance.now();
    program.child.kill('SIGTERM');
    const end = await program.ended;
    expect(performance.now() - begun).toBeLessThan(STOP_MS);
    return end;
  };
  /** Suspends the compiler in the middle of the large input until it is continued or killed. */
  const stopCompilerAtWork = async (program: ProgramRun): Promise<number> => {
    const find = (): Promise<readonly number[]> => compilersOf(program.child.pid ?? 0);
    let compiler = 0;
    // A prepared one may end before the compiling one starts.
    const workedMs = async (): Promise<number> => {
      [compiler = 0] = await find();
      return compiler === 0 ? 0 : processorTimeOf(compiler).catch(() => 0);
    };
    await expect.poll(workedMs, { interval: 20 }).toBeGreaterThan(AT_WORK_MS);
    process.kill(compiler, 'SIGSTOP');
    expect(await states()).toEqual(['running']);
    return compiler;
  };

  test(
    'are requeued at SIGTERM when an endpoint stalls, and run once after a restart',
    { timeout: TEST_MS },
    async () => {
      const first = await start();
      rpc.stall();
      const ids = [];
      for (let number = 0; number < 3; number += 1) {
        ids.push(await submit(first.apiUrl, small, smallCode));
      }
      await expect.poll(states).toEqual(['running', 'running', 'queued']);
      await expect.poll(rpc.held).toBeGreaterThan(0);
      expect(await endWith(first)).toBe(0);
      const free = { state: 'queued', attempts: 0, free: true, event_id: null };
      expect(await jobs()).toEqual([free, free, free]);
      rpc.resume();
      await expectStored(await start(), ids);
    },
  );

  test(
    'are requeued at SIGTERM during a compilation, whose compiler is killed',
    { timeout: TEST_MS },
    async () => {
      const first = await start();
      const id = await submit(first.apiUrl, large, largeCode);
      const compiler = await stopCompilerAtWork(first);
      expect(await endWith(first)).toBe(0);
      expect(await isAlive(compiler)).toBe(false);
      expect(await jobs()).toMatchObject([{ state: 'queued', attempts: 0, free: true }]);
      await expectStored(await start(), [id]);
    },
  );

  test(
    'are taken over from a killed process after its lease expires, and counted once',
    { timeout: TEST_MS },
    async () => {
      const first = await start();
      const id = await submit(first.apiUrl, large, largeCode);
      const compiler = await stopCompilerAtWork(first);
      first.child.kill('SIGKILL');
      await first.ended;
      process.kill(compiler, 'SIGCONT');
      await expect.poll(() => isAlive(compiler)).toBe(false);
      expect(await jobs()).toMatchObject([{ state: 'running', attempts: 1, free: false }]);
      await testDatabase.database.query(AGE_LEASES, [8]);
      await expectStored(await start(), [id]);
      expect(await jobs()).toMatchObject([{ state: 'succeeded', attempts: 2 }]);
    },
  );

  test(
    'end a waiting API v1 request with 503 before the process exits',
    { timeout: TEST_MS },
    async () => {
      const first = await start();
      rpc.stall();
      const { address } = await deploy(anvil, smallCode, word(7));
      const { metadata } = await compileAsDeveloper(VERSION, small, 'Small.sol', 'Small');
      const waiting = post(`${first.apiUrl}/verify`, {
        chain: String(VERIFIED_CHAIN_ID),
        address,
        files: {
          'metadata.json': metadata,
          'Small.sol': small.sources['Small.sol']?.content,
        },
      });
      await expect.poll(states).toEqual(['running']);
      expect(await endWith(first)).toBe(0);
      const answer = await waiting;
      expect(answer.status).toBe(503);
      expect(await answer.json()).toEqual({ error: expect.any(String) as string });
      expect(await states()).toEqual(['queued']);
    },
  );
});
