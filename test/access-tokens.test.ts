// Tokens created by `fullmatch tokens`, and a service that accepts them.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sql } from '../src/store/database.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const ROUTE = `/v2/verify/similarity/1/0x${'1'.repeat(40)}`;

let testDatabase: TestDatabase;
let service: BootedService;
let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

beforeAll(async () => {
  [testDatabase, folder] = await Promise.all([createTestDatabase(), createTemporaryFolder()]);
  service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: 'registry: { include: configured, defaults: false }\naccess: { verify: token }\n',
  });
});
afterEach(async () => {
  await testDatabase.database.query(sql('test forget tokens', 'DELETE FROM access_tokens'));
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
  await folder.remove();
});

const tokens = (...args: readonly string[]) =>
  runInProcess(['tokens', ...args], {
    environment: { DATABASE_URL: testDatabase.url },
    workingDirectory: folder.path,
  });
const create = async (...args: readonly string[]): Promise<string> => {
  const { exitCode, stdout } = await tokens('create', ...args);
  expect(exitCode).toBe(0);
  return stdout.trim();
};
/** Returns the status of a verification request and its error code. */
const send = async (token: string): Promise<readonly [number, string | undefined]> => {
  const response = await fetch(`${service.apiUrl}${ROUTE}`, {
    ...{ method: 'POST', body: '{}' },
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  });
  const { customCode } = (await response.json()) as { customCode?: string };
  return [response.status, customCode];
};
// The chain is unknown, which is only detected after authentication.
const LET_THROUGH = [400, 'unsupported_chain'];

test('warns at startup when tokens are required but none exist', () => {
  expect(service.logText()).toContain('access_tokens_missing');
});

test('a running service accepts a token until it is revoked', async () => {
  const token = await create('ci');
  expect(token).toMatch(/^fullmatch_[0-9a-f]{48}$/);
  expect(await send(`${token}0`)).toEqual([401, 'token_unknown']);
  await expect.poll(() => send(token)).toEqual(LET_THROUGH);
  expect(await tokens('revoke', 'ci')).toMatchObject({ exitCode: 0, stdout: 'revoked ci\n' });
  await expect.poll(() => send(token)).toEqual([401, 'token_unknown']);
});

test('each token has its own rate limit', async () => {
  const [limited, free] = [await create('limited', '--per-hour', '2'), await create('free')];
  await expect.poll(() => send(free)).toEqual(LET_THROUGH);
  expect([await send(limited), await send(limited)]).toEqual([LET_THROUGH, LET_THROUGH]);
  expect(await send(limited)).toEqual([429, 'too_many_verifications']);
  expect(await send(free)).toEqual(LET_THROUGH);
});

test('rejects an expired token as unknown and lists it as expired', async () => {
  const token = await create('brief', '--days', '1');
  await expect.poll(() => send(token)).toEqual(LET_THROUGH);
  const past = `UPDATE access_tokens SET expires_at = now() - interval '1 minute'`;
  await testDatabase.database.query(sql('test expire tokens', past));
  await expect.poll(() => send(token)).toEqual([401, 'token_unknown']);
  expect((await tokens('list')).stdout).toMatch(/^brief .* expired /m);
});

test('stores and prints no token in the list, the database or the log', async () => {
  const token = await create('ci', '--per-hour', '5', '--days', '30');
  const { stdout } = await tokens('list', '--json');
  expect(JSON.parse(stdout)).toEqual([
    {
      ...{ name: 'ci', perHour: 5 },
      createdAt: expect.any(String) as string,
      expiresAt: expect.any(String) as string,
    },
  ]);
  const text = sql('test stored tokens', 'SELECT access_tokens::text AS row FROM access_tokens');
  const [stored] = await testDatabase.database.query<{ row: string }>(text);
  for (const each of [stdout, stored?.row, service.logText()]) {
    expect(each).not.toContain(token.slice('fullmatch_'.length));
  }
});

test.each([
  [['create', 'ci'], 'access_token_exists'],
  [['create', 'not a name'], 'invalid_parameter'],
  [['create', 'other', '--per-hour', '0'], 'invalid_parameter'],
  [['create', 'other', '--days', 'many'], 'invalid_parameter'],
  [['revoke', 'nobody'], 'access_token_not_found'],
] as const)('rejects %j', async (args, code) => {
  await create('ci');
  const { exitCode, stdout } = await tokens(...args, '--json');
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ code });
});
