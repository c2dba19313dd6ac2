import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from './support/booted-service.ts';
import { RawClient, waitUntil } from './support/raw-client.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const DESCRIPTORS = 400;
/** One for each connection, and one for what it may need. */
const SEATS = DESCRIPTORS / 2;

let database: TestDatabase;
let service: Awaited<ReturnType<typeof startProgram>>;
const clients: RawClient[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startProgram({
    descriptors: DESCRIPTORS,
    environment: {
      DATABASE_URL: database.url,
      FULLMATCH_REGISTRY_INCLUDE: 'configured',
      FULLMATCH_REGISTRY_DEFAULTS: 'false',
    },
  });
});
afterAll(async () => {
  for (const { socket } of clients) socket.destroy();
  service.child.kill('SIGTERM');
  await service.ended;
  await database.drop();
});

async function ask(url: string, path: string, from: string): Promise<RawClient> {
  const client = await RawClient.connect(Number(new URL(url).port), from);
  clients.push(client);
  return client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
}

const hostOf = (index: number): string => [service.apiUrl, service.repositoryUrl][index % 2] ?? '';
const linesOf = (event: string): readonly string[] =>
  service.lines.filter((line) => line.includes(`"event":"${event}"`));

test('says at its start that it may open few descriptors, and what to do', () => {
  const [line = '{}'] = linesOf('descriptor_limit_low');
  const facts = { level: 40, descriptors: DESCRIPTORS, connections: SEATS };
  expect(JSON.parse(line)).toMatchObject(facts);
  expect(line).toContain('LimitNOFILE');
});

test('answers newcomers while one network holds all that it can of both hosts', async () => {
  const crowd: RawClient[] = [];
  for (let index = 0; index < 2 * DESCRIPTORS; index += 1) {
    crowd.push(await ask(hostOf(index), '/healthz', '127.0.0.2'));
  }
  await waitUntil(() => crowd.filter(({ ended }) => !ended).length === SEATS);
  for (let index = 0; index < 40; index += 1) {
    const path = index % 2 === 0 ? '/health' : '/stats.json';
    const newcomer = await ask(hostOf(index), path, '127.0.0.3');
    expect((await newcomer.answer()).status).toBe(200);
  }
  expect(crowd.filter(({ ended }) => !ended).length).toBe(SEATS - 40);
  expect(linesOf('connections_lost')).toEqual([]);
});

test('says in one line of the log that connections were lost, and takes new ones afterwards', async () => {
  const allow = (descriptors: number): void => {
    execFileSync('prlimit', ['--pid', String(service.child.pid), `--nofile=${descriptors}:`]);
  };
  allow(3);
  const lost = await Promise.all(
    Array.from({ length: 20 }, () => ask(service.apiUrl, '/healthz', '127.0.0.4')),
  );
  await waitUntil(() => lost.every(({ ended }) => ended));
  allow(DESCRIPTORS);
  expect((await (await ask(service.apiUrl, '/healthz', '127.0.0.5')).answer()).status).toBe(200);
  await service.waitForLine((line) => line.includes('"event":"connections_lost"'));
  expect(service.stderr()).toBe('');
});
