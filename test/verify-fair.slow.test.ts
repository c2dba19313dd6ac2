// Verification while clients behind one proxy send compilations that explode.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../src/store/database.ts';
import { deploy, findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const WAITING_REQUESTS = 3;
/** How long a request waits for a new job. */
const WAIT_MS = 4_900;
const VERSION = '0.8.30';
const SMALL = 'contract A { uint public x; function f() public { x++; } }';
/** One modifier, used many times: it runs its body twice. */
const BOMB = `contract A{uint a;modifier m{_;_;}function f()public ${'m '.repeat(40)}{a++;}}`;

const installed = findAnvil() !== undefined && process.platform === 'linux';
let verifying: VerifyingService;
let address: string;
let next = 0;

const bodyOf = (source: string): object => ({
  stdJsonInput: inputOf({ 'a.sol': source }),
  compilerVersion: VERSION,
  contractIdentifier: 'a.sol:A',
});

async function submitAs(client: string, source: string): Promise<Response> {
  return fetch(`${verifying.service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': client },
    body: JSON.stringify(bodyOf(source)),
  });
}

/** Each bomb is different, so that none is a duplicate. */
const bomb = (client: string): Promise<Response> => submitAs(client, `${BOMB}//${(next += 1)}`);

async function deploySmall(): Promise<string> {
  const input = inputOf({ 'a.sol': SMALL });
  const { creationCode } = await compileAsDeveloper(VERSION, input, 'a.sol', 'A');
  return (await deploy(verifying.anvil, creationCode)).address;
}

describe.skipIf(!installed)(`fair scheduling on a real chain (${NO_ANVIL})`, () => {
  beforeAll(async () => {
    verifying = await startVerifyingService(
      (folder) => `http: { trustedProxies: [127.0.0.1] }
compilers: { folder: ${folder}, timeoutMs: 6000 }
verification: { workers: 2, queueLimit: 20, clientQueueLimit: 15, waitingRequests: ${10 * WAITING_REQUESTS} }
`,
    );
    address = await deploySmall();
  });
  afterAll(() => verifying.close());

  test('a newcomer finishes before the second bombs of two other clients start', async () => {
    const bombers = ['192.0.2.1', '2001:db8:0:1::1'];
    for (let round = 0; round < 10; round += 1) {
      for (const bomber of bombers) expect([202, 429]).toContain((await bomb(bomber)).status);
    }
    const { database } = verifying.testDatabase;
    const begun = async (): Promise<readonly { id: string }[]> =>
      database.query(
        sql('test begun', 'SELECT id FROM verification_jobs WHERE started_at IS NOT NULL'),
      );
    await expect.poll(async () => (await begun()).length).toBe(2);
    const submitted = await submitAs('198.51.100.77', SMALL);
    expect(submitted.status).toBe(202);
    const { verificationId } = (await submitted.json()) as { verificationId: string };
    const { service } = verifying;
    await expect
      .poll(async () => {
        const response = await fetch(`${service.apiUrl}/v1/jobs/${verificationId}`);
        return ((await response.json()) as { state: string }).state;
      })
      .toBe('succeeded');
    const order = await database.query<{ id: string; state: string }>(
      sql(
        'test order',
        `SELECT id, state FROM verification_jobs WHERE started_at IS NOT NULL ORDER BY started_at`,
      ),
    );
    expect(order[2]?.id).toBe(verificationId);
    const clients = await database.query<{ client: string }>(
      sql(
        'test clients',
        `SELECT DISTINCT client FROM verification_jobs WHERE client IS NOT NULL ORDER BY client`,
      ),
    );
    expect(clients.map(({ client }) => client)).toEqual(['192.0.2.1', '2001:db8:0:1::/64']);
  });

  test("a client beyond the waiting limit gets the job's current state immediately", async () => {
    // A bomb queued behind others, which counts as new for the whole test.
    const [waiting] = await verifying.testDatabase.database.query<{ id: string }>(
      sql(
        'test youth',
        `UPDATE verification_jobs SET created_at = now() + interval '1 hour', turn = 1000
         WHERE id = (SELECT id FROM verification_jobs WHERE state = 'queued' LIMIT 1) RETURNING id`,
      ),
    );
    const verificationId = waiting?.id ?? '';
    const url = `${verifying.service.apiUrl}/v2/verify/${verificationId}`;
    const headers = { 'x-forwarded-for': '192.0.2.3' };
    const waited = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const begun = performance.now();
        const response = await fetch(url, { headers });
        expect(await response.json()).toMatchObject({ isJobCompleted: false, verificationId });
        return performance.now() - begun;
      }),
    );
    expect(waited.filter((ms) => ms >= WAIT_MS)).toHaveLength(WAITING_REQUESTS);
  });
});
