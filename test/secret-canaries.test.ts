import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../src/store/database.ts';
import { startProgram } from './support/booted-service.ts';
import { listedChain } from './support/made-up-lists.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { startWebServer, type WebServer } from './support/web-server.ts';

/** Common prefix of the canaries: finding it anywhere means finding one of them. */
const STEM = 'zqcanary';
const canaries = new Map<string, string>();
/** Creates a new secret for a setting. */
function canary(place: string): string {
  const value = `${STEM}${canaries.size}x${randomBytes(14).toString('hex')}`;
  canaries.set(value, place);
  return value;
}

/** Returns where a text contains a canary, literally or in the hexadecimal digits of stored bytes. */
function findCanaries(text: string): readonly string[] {
  const hex = (value: string): string => Buffer.from(value).toString('hex');
  const lower = text.toLowerCase();
  if (!lower.includes(STEM) && !lower.includes(hex(STEM))) return [];
  return [...canaries].flatMap(([value, place]) =>
    lower.includes(value) || lower.includes(hex(value)) ? [place] : [],
  );
}

/** Requests that the node received. */
const heard: string[] = [];

/** Echoes each request in one of the ways in which a node fails. */
function startEchoingNode(): Promise<WebServer> {
  let turn = 0;
  return startWebServer((request, response) => {
    const said = `${request.url} ${JSON.stringify(request.headers)}`;
    heard.push(said);
    const error = { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: said, data: said } };
    const answers = [
      () => response.writeHead(401, { 'www-authenticate': said }).end(said),
      () => response.writeHead(200).end(JSON.stringify(error)),
      () => response.writeHead(500).end(said),
      () => response.writeHead(302, { location: `http://127.0.0.2${request.url}` }).end(said),
      () => response.writeHead(200).end(said),
      () => response.writeHead(429, { 'retry-after': '1' }).end(said),
    ];
    answers[turn++ % answers.length]?.();
  });
}

let database: TestDatabase;
let folder: string;
let removeFolder: () => Promise<void>;
let node: WebServer;
let service: Awaited<ReturnType<typeof startProgram>>;
let environment: Record<string, string>;
let chainIds: readonly number[];

/** Endpoints with a canary in each part of a URL, one chain each. */
function secretEndpoints(): readonly string[] {
  const host = node.hostPort;
  return [
    `http://${host}/v3/${canary('path')}`,
    `http://${host}/${canary('first segment')}/rpc/${canary('last segment')}`,
    `http://${host}/?apikey=${canary('query')}&token=${canary('second query')}`,
    `http://${canary('user')}:${canary('password')}@${host}/`,
    `http://:${canary('password alone')}@${host}/`,
    `http://${canary('user alone')}@${host}/`,
    `http://${host}/#${canary('fragment')}`,
    `http://${host}/?Authorization=Bearer%20${canary('header in a query')}`,
    `http://${host}/X-Api-Key:${canary('header in a path')}`,
    `http://${host}/;key=${canary('path parameter')}`,
    `http://${host}/${canary('before %')}%2F${canary('after %')}`,
    `ws://${host}/${canary('WebSocket path')}?k=${canary('WebSocket query')}`,
    `ws://${canary('WebSocket user')}:${canary('WebSocket password')}@${host}/`,
    `wss://${host}/${canary('secure WebSocket path')}`,
    `https://${host}/${canary('path of a server without TLS')}`,
    `http://127.0.0.1:1/${canary('path of a blocked port')}`,
    `http://${host}/\${CANARY_VARIABLE}`,
    `http://${host}/\${CANARY_FIRST}/\${CANARY_SECOND}`,
    `http://${host}/\${CANARY_MOUNTED}`,
    `http://${host}/${canary('upper case').toUpperCase()}`,
  ];
}

beforeAll(async () => {
  database = await createTestDatabase();
  ({ path: folder, remove: removeFolder } = await createTemporaryFolder());
  node = await startEchoingNode();
  await writeFile(path.join(folder, 'mounted'), canary('mounted file'));
  await writeFile(path.join(folder, 'list.json'), JSON.stringify([listedChain(1)]));
  const url = new URL(database.url.replace('postgres://fullmatch@/', 'postgres://fullmatch@x/'));
  environment = {
    CANARY_VARIABLE: canary('variable'),
    CANARY_FIRST: canary('first variable'),
    CANARY_SECOND: canary('second variable'),
    CANARY_MOUNTED_FILE: path.join(folder, 'mounted'),
    DATABASE_URL: `postgres://fullmatch:${canary('database password')}@${url.pathname}${url.search}`,
    FULLMATCH_LOG_LEVEL: 'debug',
    FULLMATCH_METRICS_ENABLED: 'true',
    FULLMATCH_METRICS_PORT: '0',
  };
  await writeFile(path.join(folder, 'fullmatch.yaml'), stringify(soundConfiguration()));
  service = await startProgram({ environment, workingDirectory: folder });
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await node.close();
  await database.drop();
  await removeFolder();
});

/** Every command and every rejection reads the list; its two thousand chains are irrelevant here. */
const fewChains = () => ({
  include: 'configured',
  defaults: false,
  list: path.join(folder, 'list.json'),
});

/** Canaries wherever a configuration may contain a secret and the service still starts. */
function soundConfiguration(): object {
  const chains: Record<number, object> = {};
  for (const [index, endpoint] of secretEndpoints().entries()) {
    const second = `http://${node.hostPort}/second/${canary('second endpoint')}`;
    chains[70_001 + index] = { name: `Chain ${index}`, quorum: 1, privateRpc: [endpoint, second] };
  }
  const host = node.hostPort;
  chains[71_000] = {
    name: 'Public endpoints with user information',
    rpc: [
      `http://${canary('public user')}:${canary('public password')}@${host}/`,
      `https://${canary('public user alone')}@rpc.example.org/`,
    ],
    extraRpc: [
      `https://:${canary('extra password')}@rpc.example.org/`,
      `wss://${canary('extra user')}:${canary('extra WebSocket password')}@rpc.example.org/`,
    ],
  };
  chains[71_001] = {
    local: true,
    rpc: [`http://${canary('local user')}:${canary('local password')}@${host}/`],
    privateRpc: [`http://${host}/${canary('local path')}`],
  };
  chainIds = Object.keys(chains).map(Number);
  return {
    registry: fewChains(),
    // The environment's value takes precedence; this one is still read and validated.
    database: { url: `postgres://${canary('file user')}:${canary('file password')}@db.invalid/x` },
    // Each job waits for its endpoints.
    verification: { workers: 32 },
    chains,
  };
}

const surroundings = () => ({ environment, workingDirectory: folder });
const ADDRESS = `0x${'1'.repeat(40)}`;

/** Possible values of a parameter, valid and invalid. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  ref: ['70001', 'nothing', '0'],
  chainId: ['70002', '999', 'x'],
  address: [ADDRESS, 'x'],
  matchFolder: ['full_match', 'x'],
  path: ['metadata.json', '..%2f..%2ffullmatch.yaml'],
  verificationId: ['3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f', 'x'],
};

function pathsOf(template: string): readonly string[] {
  const name = /\{(\w+)\}/.exec(template)?.[1];
  if (name === undefined) return [template];
  const values = PARAMETERS[name] ?? ['x'];
  return values.flatMap((value) => pathsOf(template.replace(`{${name}}`, value)));
}

async function everythingOf(url: string, init?: RequestInit): Promise<string> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  return `${url} ${JSON.stringify([...response.headers])} ${await bodyOf(response)}`;
}

/** Returns the whole body; of an endless event stream, everything up to its first empty line. */
async function bodyOf(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    return response.text();
  }
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('\n\n')) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${response.url} ended early: ${text}`);
    text += value;
  }
  await reader.cancel();
  return text;
}

const verifyBody = JSON.stringify({
  stdJsonInput: { language: 'Solidity', sources: { 'A.sol': { content: '' } }, settings: {} },
  compilerVersion: '0.8.37',
  contractIdentifier: 'A.sol:A',
});

/** Verifies on a chain and returns the ended job. */
async function verifyOn(chainId: number): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: verifyBody };
  const submitted = await fetch(`${service.apiUrl}/v2/verify/${chainId}/${ADDRESS}`, init);
  const text = await submitted.text();
  const { verificationId } = JSON.parse(text) as { verificationId?: string };
  if (verificationId === undefined) return text;
  for (;;) {
    const job = await (await fetch(`${service.apiUrl}/v2/verify/${verificationId}`)).text();
    if ((JSON.parse(job) as { isJobCompleted: boolean }).isJobCompleted) return job;
  }
}

describe('a secret in the configuration', () => {
  test('is planted in at least fifty places', () => {
    expect(canaries.size).toBeGreaterThanOrEqual(50);
  });

  test('is in no job whose endpoints fail after being queried', async () => {
    const jobs = await Promise.all(chainIds.map(verifyOn));
    for (const [index, job] of jobs.entries()) {
      expect(findCanaries(job), `chain ${chainIds[index]}`).toEqual([]);
    }
    expect(jobs.filter((job) => job.includes('cannot_fetch_bytecode')).length).toBeGreaterThan(15);
    expect(heard.length).toBeGreaterThan(15);
  });

  test('is in no response of any route, to valid and invalid requests', async () => {
    const document = JSON.parse(await readFile('openapi.json', 'utf8')) as {
      paths: Record<string, Record<string, { servers?: unknown }>>;
    };
    let asked = 0;
    for (const [template, operations] of Object.entries(document.paths)) {
      for (const [method, { servers }] of Object.entries(operations)) {
        const base = servers === undefined ? service.apiUrl : service.repositoryUrl;
        for (const at of pathsOf(template)) {
          const init =
            method === 'post'
              ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
              : { method: method.toUpperCase() };
          expect(findCanaries(await everythingOf(`${base}${at}`, init)), at).toEqual([]);
          asked += 1;
        }
      }
    }
    for (const chainId of chainIds) {
      for (const at of [`/chains/${chainId}`, `/v1/chains/${chainId}`, `/v1/chains?q=${chainId}`]) {
        expect(findCanaries(await everythingOf(`${service.apiUrl}${at}`)), at).toEqual([]);
      }
    }
    expect(asked).toBeGreaterThan(30);
  });

  test('is in no metric', async () => {
    const ready = service.lines.find((line) => line.includes('"event":"ready"')) ?? '{}';
    const { metrics_url: url } = JSON.parse(ready) as { metrics_url: string };
    const text = await everythingOf(`${url}/metrics`);
    expect(text).toContain('fullmatch_chains');
    expect(findCanaries(text)).toEqual([]);
  });

  test.each([
    ['config', 'print', '--json'],
    ['config', 'print'],
    ['config', 'check', '--json'],
    ['chains', 'list', '--json'],
    ['chains', 'check', '--json'],
    ['chains', 'check'],
    ['reload', '--json'],
    ['recount', '--json'],
  ])('is in no output of fullmatch %s %s', async (...args) => {
    const { exitCode, stdout, stderr } = await runInProcess(args, surroundings());
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(findCanaries(stdout)).toEqual([]);
  });

  test('is in no output of fullmatch chains show', async () => {
    for (const chainId of chainIds) {
      for (const args of [[], ['--json']]) {
        const shown = await runInProcess(['chains', 'show', `${chainId}`, ...args], surroundings());
        expect(findCanaries(`${shown.stdout}${shown.stderr}`)).toEqual([]);
        expect(shown.exitCode).toBe(0);
      }
    }
  });

  test.each([
    ['creation-transaction', '70001', ADDRESS, '--json'],
    ['creation-transaction', '70003', ADDRESS],
    ['chains', 'probe', '70001', '--json'],
    ['chains', 'probe', '70012'],
  ])('is in no output of fullmatch %s with failing endpoints', async (...args) => {
    const { exitCode, stdout, stderr } = await runInProcess(args, surroundings());
    expect(exitCode).not.toBe(0);
    expect(`${stdout}${stderr}`).not.toMatch(/unknown command|internal_error/);
    expect(findCanaries(`${stdout}${stderr}`)).toEqual([]);
  });

  test('is in no error about an invalid configuration, from the CLI or the service', async () => {
    const refused: readonly object[] = [
      { log: { level: canary('level') } },
      { host: `user:${canary('host')}@h` },
      { api: { port: canary('port') } },
      { api: { publicUrl: `https://u:${canary('public URL')}@verify.example.org` } },
      { repository: { publicUrl: `https://verify.example.org/?key=${canary('public query')}` } },
      { compilers: { downloadUrl: `https://u:${canary('mirror')}@binaries.example.org` } },
      { registry: { sync: { urls: [`https://u:${canary('list source')}@list.example.org`] } } },
      { registry: { include: canary('choice') } },
      { database: { url: `mysql://u:${canary('database scheme')}@h/d` } },
      ...[
        { contractFetchAddress: `https://e.example/\${ADDRESS}?apikey=${canary('explorer key')}` },
        { contractFetchAddress: `https://u:${canary('explorer user')}@e.example/\${ADDRESS}` },
        { txRegex: `${canary('pattern')}(?<=a)` },
        { supported: canary('flag') },
        { quorum: canary('quorum') },
        { rpc: canary('rpc that is not a list') },
        { privateRpc: canary('privateRpc that is not a list') },
        { privateRpc: [`ftp://a.example/${canary('scheme')}`] },
        {
          privateRpc: [`https://a.example/${canary('beside a placeholder')}/\${NOT_SET_ANYWHERE}`],
        },
        { nativeCurrency: canary('currency') },
        { explorers: [{ name: 'e', url: `javascript:${canary('explorer link')}` }] },
      ].map((entry) => ({ chains: { 5: entry } })),
    ];
    for (const configuration of refused) await refuse(stringify(configuration));
    const endpoint = (place: string): string => `https://rpc.example.org/v3/${canary(place)}`;
    await refuse(`${endpoint('key of the file')}: 1`);
    await refuse(`api: { "${endpoint('key of a section')}": 1 }`);
    await refuse(`chains: { "${endpoint('key of a chain')}": {} }`);
    await refuse(`chains: { 5: { "${endpoint('key of a field')}": 1 } }`);
    await refuse(`chains: { 5: { rpc: { "${endpoint('key in place of a list')}": 1 } } }`);
    const twice = endpoint('duplicate key');
    await refuse(`chains: { 5: { "${twice}": 1, "${twice}": 1 } }`);
    await refuse(`chains: { 5: { privateRpc: ["https://a.example/${canary('broken YAML')}" }`);
    await refuse(`chains:\n  5: &${canary('anchor')} {}\n  6: *nothing${canary('alias')}`);
  });

  test('is in no error about a public field that would publish it', async () => {
    const key = canary('key in a public field');
    const fields: readonly object[] = [
      { name: key },
      { chain: key },
      { network: key },
      { icon: key },
      { shortName: key },
      { title: key },
      { status: key },
      { rpc: [`https://b.example/${key}`] },
      { extraRpc: [`https://b.example/?k=${key.toUpperCase()}`] },
      { faucets: [`https://b.example/${key}`] },
      { infoURL: `https://b.example/${encodeURIComponent(`/${key}`)}` },
      { nativeCurrency: { name: key, symbol: 'E', decimals: 18 } },
      { explorers: [{ name: 'e', url: `https://b.example/${key}`, standard: 'none' }] },
      { contractFetchAddress: `https://b.example/${key}/\${ADDRESS}` },
      { txRegex: `${key}(.*)` },
      { features: [{ name: key }] },
      { parent: { type: 'L2', chain: key } },
      { redFlags: [key] },
    ];
    for (const entry of fields) {
      const chain = { name: 'A', ...entry, privateRpc: [`https://a.example/${key}`] };
      const configuration = { registry: fewChains(), chains: { 5: chain } };
      const line = await refuse(stringify(configuration), { here: ['chains', 'check'] });
      expect(line).toMatchObject({ code: 'secret_in_document' });
    }
  });

  test('is in no log line and no database row, whatever happened before', async () => {
    expect(service.lines.length).toBeGreaterThan(10);
    for (const line of service.lines) expect(findCanaries(line)).toEqual([]);
    expect(findCanaries(service.stderr())).toEqual([]);
    const tables = await database.database.query<{ name: string }>(
      sql(
        'tables of a test',
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
          WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
      ),
    );
    expect(tables.map(({ name }) => name)).toContain('public.verification_jobs');
    for (const { name } of tables) {
      const read = sql(`dump of ${name}`, `SELECT t::text AS row FROM ${name} AS t`);
      for (const { row } of await database.database.query<{ row: string }>(read)) {
        expect(findCanaries(row), name).toEqual([]);
      }
    }
  });

  test('would be found by this test and was in use throughout', async () => {
    const [first = ''] = canaries.keys();
    expect(findCanaries(`…${first}…`)).toEqual([canaries.get(first)]);
    expect(findCanaries(Buffer.from(first).toString('hex'))).toEqual([canaries.get(first)]);
    const places = ['path', 'query', 'variable', 'mounted file', 'WebSocket path'];
    // All endpoints share one host. On a busy machine its circuit breaker may skip some of them the first time.
    const neverReceived = async (): Promise<readonly string[]> => {
      const received = new Set(heard.flatMap(findCanaries));
      const missing = places.filter((place) => !received.has(place));
      if (missing.length > 0) await Promise.all(chainIds.map(verifyOn));
      return missing;
    };
    await expect.poll(neverReceived).toEqual([]);
  });
});

/** Gives the file to a command and to the running service; both reject it without naming a canary. */
async function refuse(
  text: string,
  { here = ['config', 'check'] }: { here?: readonly string[] } = {},
): Promise<object> {
  await mkdir(path.join(folder, 'refused'), { recursive: true });
  const file = path.join(folder, 'refused', 'fullmatch.yaml');
  await writeFile(file, text);
  for (const args of [[], ['--json']]) {
    const run = await runInProcess([...here, '--config', file, ...args], surroundings());
    expect(run.exitCode, text).toBe(1);
    expect(findCanaries(`${run.stdout}${run.stderr}`), `${run.stdout}${run.stderr}`).toEqual([]);
  }
  await writeFile(path.join(folder, 'fullmatch.yaml'), text);
  const before = service.lines.length;
  service.child.kill('SIGHUP');
  const line = await service.waitForLine(
    (each) =>
      service.lines.lastIndexOf(each) >= before && each.includes('"event":"configuration_re'),
  );
  expect(JSON.parse(line), text).toMatchObject({ event: 'configuration_refused' });
  expect(findCanaries(await everythingOf(`${service.apiUrl}/health`))).toEqual([]);
  return JSON.parse(line) as object;
}
