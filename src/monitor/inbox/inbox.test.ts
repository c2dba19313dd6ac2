import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { holdAfter } from '../../../test/support/gate.ts';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { waitUntil as until } from '../../../test/support/wait-for.ts';
import { MONITOR } from '../../../test/support/chain-sources.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { FullmatchError } from '../../errors.ts';
import { hexToBytes } from '../../lib/hex.ts';
import { silentLogger } from '../../log.ts';
import { saveMatch } from '../../repository/repository.ts';
import { sql } from '../../store/database.ts';
import {
  type JobWatch,
  notifyOfEnds,
  watchJobs,
} from '../../verification/jobs/job-notifications.ts';
import { submitJob } from '../../verification/jobs/submit-job.ts';
import { packRequest } from '../../verification/verification-request.ts';
import { type VerificationParts } from '../../verification/verify-contract.ts';
import { deleteOldCreations, readCreationCounts } from './creation-counts.ts';
import { openInbox, type Inbox, type InboxOptions } from './inbox.ts';
import { type FoundSources } from '../sources/find-sources.ts';
import { type AttemptDependencies } from './try-creation.ts';

const CHAIN_ID = 7;
const CODE = Buffer.from('6001600155', 'hex');

let testDatabase: TestDatabase;
let watch: JobWatch;
const open: Inbox[] = [];
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  watch = await watchJobs(testDatabase.database);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((inbox) => inbox.close()));
  await run('DELETE FROM seen_creations');
  await run('DELETE FROM forgotten_creations');
  await run('DELETE FROM verification_jobs');
});
afterAll(async () => {
  await watch.close();
  await testDatabase.drop();
});

let labels = 0;
async function run<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  // A label must identify exactly one statement.
  return testDatabase.database.query<Row>(sql(`test ${(labels += 1)}`, text), values);
}

let number = 100;
/** Adds creations to the inbox, as a chain follower does. */
async function see(count = 1, creator = 'creator'): Promise<readonly `0x${string}`[]> {
  const addresses = Array.from({ length: count }, () => sampleAddress((number += 1)));
  await run(
    `INSERT INTO seen_creations (chain_id, address, block_number, block_hash, transaction_hash, transaction_index, creator)
     SELECT $1, address, 5, sha256('block'), sha256(address), 0, substr(sha256(convert_to($3, 'UTF8')), 1, 20)
     FROM unnest($2::bytea[]) AS address`,
    [CHAIN_ID, addresses.map(hexToBytes), creator],
  );
  return addresses;
}

interface Row {
  readonly state: string;
  readonly reason: string | null;
  readonly tries: number;
  readonly wait_s: number | null;
  readonly job_id: string | null;
}
async function rowOf(address: string): Promise<Row> {
  const [row] = await run<Row>(
    `SELECT state, reason, tries, job_id, extract(epoch FROM next_try_at - now())::float8 AS wait_s
     FROM seen_creations WHERE address = $1`,
    [hexToBytes(address)],
  );
  if (row === undefined) throw new Error('the row is gone');
  return row;
}
/** Ends the job of a creation and sends the notification, as workers do. */
async function endJob(address: string, set: string): Promise<void> {
  const ended = await run<{ id: string }>(
    `UPDATE verification_jobs SET finished_at = now(), request = NULL, client = NULL, network = NULL, ${set}
     WHERE address = $1 RETURNING id`,
    [hexToBytes(address)],
  );
  await notifyOfEnds(
    testDatabase.database,
    ended.map(({ id }) => id),
  );
}
const failed = (code: string): string =>
  `state = 'failed', error_code = '${code}', error_message = 'x', error_id = gen_random_uuid()`;
const untilState = (address: string, state: string) =>
  until(async () => (await rowOf(address)).state === state);
const untilTried = (address: string, tries = 1) =>
  until(async () => (await rowOf(address)).tries >= tries);

const NOT_FOUND: FoundSources = {
  kind: 'not_found',
  reason: 'metadata_unavailable',
  detail: 'No gateway has it.',
  isFinal: false,
};
const FOUND: FoundSources = {
  kind: 'found',
  compilation: { kind: 'metadata', metadata: {}, sources: { 'a.sol': 'contract A {}' } },
  from: 'http://127.0.0.1:1',
};

/** Starts an inbox on a chain with the same bytecode at every address. */
function start(
  replaced: Partial<AttemptDependencies> = {},
  options: Partial<InboxOptions> = {},
): Inbox {
  const { database } = testDatabase;
  const reading = {
    findSupportedChain: () => ({ record: { chainId: CHAIN_ID } }),
    quorumOf: () => undefined,
    readDeployedCode: async () => ({
      code: CODE,
      blockNumber: 6,
      blockHash: '0x00',
      endpoints: ['test'],
      witnesses: 1,
    }),
    findCreation: async () => ({ methods: [] }),
  } as unknown as VerificationParts;
  const inbox = openInbox(
    {
      database,
      reading,
      monitored: () => new Map([[CHAIN_ID, MONITOR]]),
      verifyKnownCode: async () => undefined,
      findSources: async () => NOT_FOUND,
      pack: async (request) => packRequest(request),
      submit: (request, client, share) =>
        submitJob(database, request, client, { total: 100, ...share }),
      // Polling never happens: the notification must be enough.
      waitForJobs: (_, signal) => watch.wait(2 ** 30, signal),
      queueShare: 3,
      log: silentLogger,
      random: () => 0,
      ...replaced,
    },
    { concurrency: 4, keepDays: 1, pollMs: 20, ...options },
  );
  open.push(inbox);
  return inbox;
}

const knownCode: AttemptDependencies['verifyKnownCode'] = async (_parts, { chainId, address }) => ({
  contract: sampleContract(
    chainId,
    address,
    { runtimeMatch: 'full', creationMatch: 'full' },
    { origin: 'verified', deployment: { runtimeCode: CODE } },
  ),
  compileTimeMs: 0,
  droppedSources: [],
});

test('stores a creation with known bytecode at once, with origin monitored', async () => {
  const [address = ''] = await see();
  start({
    verifyKnownCode: knownCode,
    findSources: () => Promise.reject(new Error('no network but the chain')),
  });
  await untilState(address, 'verified');
  expect(await rowOf(address)).toMatchObject({ reason: 'known_code', wait_s: null });
  const matches = await run('SELECT match, origin FROM current_matches WHERE address = $1', [
    hexToBytes(address),
  ]);
  expect(matches).toEqual([{ match: 'full', origin: 'monitored' }]);
});

test('found sources start a verification of origin monitored that settles the creation', async () => {
  const [fine = '', wrong = ''] = await see(2);
  // The bytecode differs each time, since only one creation per bytecode is verified at a time.
  const reading = (code: number) => Buffer.from([code]);
  let codes = 0;
  const inbox = start({
    findSources: async () => FOUND,
    reading: {
      findSupportedChain: () => ({ record: { chainId: CHAIN_ID } }),
      quorumOf: () => undefined,
      readDeployedCode: async () => ({ code: reading((codes += 1)) }),
    } as unknown as VerificationParts,
  });
  inbox.wake();
  await untilState(fine, 'verifying');
  await untilState(wrong, 'verifying');
  expect(await run('SELECT client, state FROM verification_jobs')).toEqual([
    { client: 'monitor', state: 'queued' },
    { client: 'monitor', state: 'queued' },
  ]);
  await endJob(fine, `state = 'succeeded', runtime_match = 'full'`);
  await endJob(wrong, failed('no_match'));
  await untilState(fine, 'verified');
  await untilState(wrong, 'given_up');
  expect(await rowOf(fine)).toMatchObject({ reason: 'sources', tries: 1 });
  expect(await rowOf(wrong)).toMatchObject({ reason: 'no_match', tries: 1 });
});

test('a cancelled or unchecked job does not settle the search like a mismatch', async () => {
  const cases = {
    job_cancelled: 'given_up',
    compiler_timeout: 'waiting',
  };
  for (const [code, state] of Object.entries(cases)) {
    const [address = ''] = await see();
    const inbox = start({ findSources: async () => FOUND });
    await untilState(address, 'verifying');
    await endJob(address, failed(code));
    await until(async () => (await rowOf(address)).state !== 'verifying');
    expect(await rowOf(address)).toMatchObject({ state, reason: code });
    await inbox.close();
    await run('DELETE FROM seen_creations');
  }
});

test('retries missing sources after 1, 5 and 30 minutes, and finally abandons them', async () => {
  const [address = ''] = await see();
  start();
  for (const [tries, seconds] of [
    [1, 60],
    [2, 300],
    [3, 1800],
  ] as const) {
    await untilTried(address, tries);
    const row = await rowOf(address);
    expect(row).toMatchObject({ state: 'waiting', reason: 'metadata_unavailable', tries });
    expect(Math.abs((row.wait_s ?? 0) - seconds)).toBeLessThan(5);
    await run('UPDATE seen_creations SET next_try_at = now()');
  }
  await untilTried(address, 4);
  await run('UPDATE seen_creations SET tries = 10, next_try_at = now()');
  await untilState(address, 'given_up');
});

test('abandons at once what can never be found', async () => {
  const [address = ''] = await see();
  const detail = 'The code names no metadata.';
  start({
    findSources: async () => ({
      kind: 'not_found',
      reason: 'no_metadata_hash',
      detail,
      isFinal: true,
    }),
  });
  await untilState(address, 'given_up');
  expect(await rowOf(address)).toMatchObject({ reason: 'no_metadata_hash', tries: 1 });
});

test('marks a contract without code as gone after a second check', async () => {
  const [address = ''] = await see();
  const reading = {
    findSupportedChain: () => ({ record: { chainId: CHAIN_ID } }),
    quorumOf: () => undefined,
    readDeployedCode: () =>
      Promise.reject(new FullmatchError('contract_not_deployed', 'There is no code.')),
  } as unknown as VerificationParts;
  start({ reading });
  await untilTried(address);
  expect(await rowOf(address)).toMatchObject({ state: 'waiting', reason: 'contract_not_deployed' });
  await run('UPDATE seen_creations SET next_try_at = now()');
  await untilState(address, 'gone');
});

test('failing endpoints say nothing about a contract and are retried after seconds', async () => {
  const [address = ''] = await see();
  const reading = {
    findSupportedChain: () => ({ record: { chainId: CHAIN_ID } }),
    quorumOf: () => undefined,
    readDeployedCode: () =>
      Promise.reject(new FullmatchError('cannot_fetch_bytecode', 'Nobody answers.')),
  } as unknown as VerificationParts;
  start({ reading });
  await untilTried(address);
  const row = await rowOf(address);
  expect(row).toMatchObject({ state: 'waiting', reason: 'cannot_fetch_bytecode' });
  expect(row.wait_s).toBeLessThan(6);
});

test('skips an address with a match of its bytecode, but not one with other bytecode', async () => {
  const [same = '', other = ''] = await see(2);
  const stored = { runtimeMatch: 'full', creationMatch: 'full' } as const;
  for (const [address, code] of [
    [same, CODE],
    [other, Buffer.from('00', 'hex')],
  ] as const) {
    const deployment = { runtimeCode: code };
    await saveMatch(
      testDatabase.database,
      sampleContract(CHAIN_ID, address as `0x${string}`, stored, {
        origin: 'verified',
        deployment,
      }),
    );
  }
  start();
  await untilState(same, 'verified');
  expect(await rowOf(same)).toMatchObject({ reason: 'already_verified' });
  await untilTried(other);
  expect(await rowOf(other)).toMatchObject({ state: 'waiting', reason: 'metadata_unavailable' });
  const left = await run('SELECT address FROM current_matches WHERE address = ANY ($1)', [
    [hexToBytes(same), hexToBytes(other)],
  ]);
  expect(left).toEqual([{ address: hexToBytes(same) }]);
});

test('two processes try each of 200 creations once', async () => {
  const addresses = await see(200);
  const tried: string[] = [];
  const verifyKnownCode: AttemptDependencies['verifyKnownCode'] = async (
    parts,
    deployment,
    signal,
  ) => {
    tried.push(deployment.address);
    return knownCode(parts, deployment, signal);
  };
  start({ verifyKnownCode }, { concurrency: 8 });
  start({ verifyKnownCode }, { concurrency: 8 });
  await until(async () => {
    const rows = await run(`SELECT FROM seen_creations WHERE state <> 'verified'`);
    return rows.length === 0;
  });
  expect(tried.sort()).toEqual([...addresses].sort());
});

test('the monitor never exceeds its share of the queue or displaces clients', async () => {
  await see(20);
  let codes = 0;
  const submitted: string[] = [];
  const { database } = testDatabase;
  start({
    findSources: async () => FOUND,
    reading: {
      findSupportedChain: () => ({ record: { chainId: CHAIN_ID } }),
      quorumOf: () => undefined,
      readDeployedCode: async () => ({ code: Buffer.from([(codes += 1)]) }),
    } as unknown as VerificationParts,
    submit: async (request, client, share) => {
      const id = await submitJob(database, request, client, { total: 100, ...share });
      submitted.push(id);
      return id;
    },
  });
  const states = async () =>
    run<{ state: string; reason: string | null; n: number }>(
      'SELECT state, reason, count(*)::int AS n FROM seen_creations GROUP BY 1, 2 ORDER BY 1',
    );
  await until(async () =>
    (await states()).every(({ reason, state }) => reason ?? state === 'verifying'),
  );
  expect(submitted).toHaveLength(3);
  expect(await states()).toEqual([
    { state: 'waiting', reason: 'queue_full', n: 17 },
    { state: 'verifying', reason: null, n: 3 },
  ]);
});

test('verifies creations with equal bytecode one after another', async () => {
  await see(5);
  start({ findSources: async () => FOUND }, { concurrency: 1 });
  const count = async (where: string) =>
    (await run(`SELECT FROM seen_creations WHERE ${where}`)).length;
  await until(async () => (await count(`reason = 'same_code_in_queue'`)) === 4);
  expect(await count(`state = 'verifying'`)).toBe(1);
});

test('retries a creation of a dead process when its lease ends', async () => {
  const [address = ''] = await see();
  const [lease] = await run<{ lease_until: Date }>(
    `UPDATE seen_creations SET lease_token = gen_random_uuid(), lease_until = now() + interval '300 milliseconds',
       next_try_at = now() + interval '300 milliseconds' RETURNING lease_until`,
  );
  start({ verifyKnownCode: knownCode });
  await untilState(address, 'verified');
  const [row] = await run<{ ended_at: Date }>('SELECT ended_at FROM seen_creations');
  expect(row?.ended_at.getTime()).toBeGreaterThanOrEqual(lease?.lease_until.getTime() ?? Infinity);
});

test('a closing process releases its creations at once without counting an attempt', async () => {
  const [address = ''] = await see();
  let begun = 0;
  const inbox = start({
    findSources: (_code, { signal }) => {
      begun += 1;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    },
  });
  await until(async () => begun === 1);
  await inbox.close();
  const row = await rowOf(address);
  expect(row).toMatchObject({ state: 'waiting', tries: 0 });
  expect(row.wait_s).toBeLessThanOrEqual(0);
});

const CLAIM_CODE = 'claim seen creations for their code';

test('a closing inbox claims nothing more', async () => {
  const [address = ''] = await see();
  await run('UPDATE seen_creations SET sources_turn = 0');
  const { database, held, release } = holdAfter(testDatabase.database, CLAIM_CODE);
  const inbox = start({ database });
  await held;
  const closing = inbox.close();
  release();
  await closing;
  const [row] = await run('SELECT lease_token, tries FROM seen_creations');
  expect(row).toEqual({ lease_token: null, tries: 0 });
  expect((await rowOf(address)).reason).toBeNull();
});

test('a creation claimed during shutdown is released untried', async () => {
  const [address = ''] = await see();
  const { database, held, release } = holdAfter(testDatabase.database, CLAIM_CODE);
  let tried = 0;
  const inbox = start({
    database,
    // Never settles, like code that starts listening to a signal after it was aborted.
    verifyKnownCode: () => {
      tried += 1;
      return new Promise(() => undefined);
    },
  });
  await held;
  const closing = inbox.close();
  release();
  await closing;
  expect(tried).toBe(0);
  const row = await rowOf(address);
  expect(row).toMatchObject({ state: 'waiting', reason: 'interrupted', tries: 0 });
  expect(row.wait_s).toBeLessThanOrEqual(0);
  const [{ lease_token } = { lease_token: '' }] = await run<{ lease_token: string | null }>(
    'SELECT lease_token FROM seen_creations',
  );
  expect(lease_token).toBeNull();
});

test('the counts equal the rows after any change and after deleting old rows', async () => {
  const { database } = testDatabase;
  const states = ['waiting', 'verifying', 'verified', 'given_up', 'gone'];
  const set = (state: string): string =>
    `state = '${state}', reason = CASE WHEN '${state}' = 'given_up' THEN 'no_match' END,
     ended_at = CASE WHEN '${state}' IN ('verified', 'given_up', 'gone') THEN now() - interval '2 days' END,
     next_try_at = CASE WHEN '${state}' IN ('waiting', 'verifying') THEN now() END`;
  const change = fc.oneof(
    fc.record({ kind: fc.constant('see'), count: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ kind: fc.constantFrom('move', 'remove'), count: fc.integer({ min: 0, max: 9 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      for (const { kind, count } of changes) {
        if (kind === 'see') await see(count);
        else {
          const some = `WHERE get_byte(address, 19) % 10 = ${count}`;
          if (kind === 'remove') await run(`DELETE FROM seen_creations ${some}`);
          else await run(`UPDATE seen_creations SET ${set(states[count % 5]!)} ${some}`);
        }
      }
      const counted = async () => (await readCreationCounts(database, [CHAIN_ID])).get(CHAIN_ID);
      const rows = await run(
        `SELECT state, coalesce(reason, '') AS reason, count(*)::int AS creations FROM seen_creations
         GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2`,
      );
      expect((await counted()) ?? []).toEqual(rows);
      while (await deleteOldCreations(database, 1));
      expect((await counted()) ?? []).toEqual(rows);
      const ended = await run(`SELECT FROM seen_creations WHERE ended_at IS NOT NULL`);
      expect(ended).toEqual([]);
      await run('DELETE FROM seen_creations');
      await run('DELETE FROM forgotten_creations');
      expect(await counted()).toBeUndefined();
    }),
    { numRuns: 15 },
  );
});

/** Starts an inbox whose gateways never respond and which knows only the bytecode at some addresses. */
function startBehindGateways(known: readonly string[], order: string[]): Inbox {
  return start({
    verifyKnownCode: async (parts, deployment, signal) =>
      known.includes(deployment.address) ? knownCode(parts, deployment, signal) : undefined,
    reading: {
      findSupportedChain: () => ({ record: { chainId: CHAIN_ID } }),
      quorumOf: () => undefined,
      readDeployedCode: async (_chain: unknown, address: `0x${string}`) => ({
        code: known.includes(address) ? CODE : Buffer.from(hexToBytes(address)),
        blockNumber: 6,
        blockHash: '0x00',
        endpoints: ['test'],
        witnesses: 1,
      }),
      findCreation: async () => ({ methods: [] }),
    } as unknown as VerificationParts,
    findSources: (code, { signal }) =>
      new Promise((_resolve, reject) => {
        order.push(`0x${Buffer.from(code).toString('hex')}`);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  });
}

test('known bytecode never waits for gateways, however many creations use them', async () => {
  await see(24);
  const asked: string[] = [];
  const known: string[] = [];
  startBehindGateways(known, asked);
  await until(async () => asked.length === 4);
  const [clone = ''] = await see();
  known.push(clone);
  await untilState(clone, 'verified');
  expect(asked).toHaveLength(4);
});

test('gateways serve creators in turn, new creations before retries', async () => {
  const mass = await see(24);
  const ended: (() => void)[] = [];
  const order: string[] = [];
  const readings: string[] = [];
  start(
    {
      reading: {
        findSupportedChain: () => ({ record: { chainId: CHAIN_ID } }),
        quorumOf: () => undefined,
        readDeployedCode: async (_chain: unknown, address: `0x${string}`) => {
          readings.push(address);
          return { code: Buffer.from(hexToBytes(address)) };
        },
      } as unknown as VerificationParts,
      findSources: (code) =>
        new Promise((resolve) => {
          order.push(`0x${Buffer.from(code).toString('hex')}`);
          ended.push(() => resolve(NOT_FOUND));
        }),
    },
    { concurrency: 1 },
  );
  const moved = async () =>
    (await run('SELECT FROM seen_creations WHERE sources_turn IS NOT NULL')).length;
  await until(async () => order.length === 1 && (await moved()) === 24);
  const [other = ''] = await see(1, 'other');
  await until(async () => (await moved()) === 25);
  ended[0]?.();
  await until(async () => order.length === 2);
  expect(order[1]).toBe(other);
  // The failed creations are due again before the others have had their turn.
  await run(
    'UPDATE seen_creations SET next_try_at = now() WHERE tries = 1 AND lease_token IS NULL',
  );
  ended[1]?.();
  await until(async () => order.length === 3);
  expect(mass).toContain(order[2]);
  expect(order[2]).not.toBe(order[0]);
  ended[2]?.();
});
