/**
 * Every operation of the API has a request and a response in /docs. The requests are sent to the booted
 * service here and the responses compared. After a change of responses: `npx vitest run
 * test/api-examples.test.ts --update`, then `npx tsx scripts/build-openapi.ts`.
 */
import { readFileSync } from 'node:fs';
import { keccak256, toHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  configOf,
  deploy,
  findAnvil,
  startAnvil,
  VERIFIED_CHAIN_ID,
  type Anvil,
} from './support/anvil.ts';
import { type ApiExample, showAnswer, steady } from './support/api-examples/example.ts';
import {
  DOCUMENTED_CHAIN_ID,
  type ExampleFacts,
  type Question,
  questionsOf,
} from './support/api-examples/questions.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { followed } from './support/followed.ts';
import { waitUntil } from './support/wait-for.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.7;

contract Token {
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}
`;
const PATH = 'contracts/Token.sol';
const COPIES = 24;
const EXAMPLES = '../scripts/api-examples.json';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema?: { readonly example?: string | number };
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly servers?: readonly { readonly description: string }[];
}
const { paths } = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

describe.skipIf(findAnvil() === undefined)('API examples', () => {
  let testDatabase: TestDatabase;
  let service: BootedService & { readonly operatorUrl?: string };
  let anvil: Anvil;
  let facts: ExampleFacts;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    anvil = await startAnvil({ chainId: DOCUMENTED_CHAIN_ID });
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf(
        anvil,
        `mcp: { enabled: true }
operator: { enabled: true, port: 0 }
access: { unlisted: true, tokens: ['docs:0123456789ABCDEF'] }
health: { enabled: false }
`,
      )
        .replace('Test chain', 'My chain')
        .replace(`${VERIFIED_CHAIN_ID}:`, `${DOCUMENTED_CHAIN_ID}:`),
    });
    facts = await prepare();
    await followed(service, testDatabase.database);
    // Its signatures are indexed shortly after its verification.
    const stats = async (): Promise<string> =>
      (await fetch(`${service.apiUrl}/signature-database/v1/stats`)).text();
    await waitUntil(async () => !(await stats()).includes('"total":0'));
    // The queue was read while the job waited and is refreshed shortly afterwards.
    const health = async (): Promise<string> => (await fetch(`${service.apiUrl}/health`)).text();
    await waitUntil(async () => !(await health()).includes('oldestQueuedSeconds'));
  });
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await testDatabase.drop();
  });

  async function prepare(): Promise<ExampleFacts> {
    const input = inputOf({ [PATH]: SOURCE });
    const { creationCode, metadata } = await compileAsDeveloper('0.8.37', input, PATH, 'Token');
    const { address } = await deploy(anvil, creationCode);
    const copies: Awaited<ReturnType<typeof deploy>>[] = [];
    for (let copy = 0; copy < COPIES; copy += 1) copies.push(await deploy(anvil, creationCode));
    const body = {
      stdJsonInput: input,
      compilerVersion: '0.8.37',
      contractIdentifier: `${PATH}:Token`,
    };
    const job = await verifyOverV2(service.apiUrl, address, body, DOCUMENTED_CHAIN_ID);
    expect(job.contract.match).toBe('exact_match');
    return {
      ...{ address, input, metadata, source: SOURCE },
      unverified: () => copies.shift()?.address ?? address,
      creationCode: `0x${creationCode}`,
      runtimeCode: await anvil.request<string>('eth_getCode', [address, 'latest']),
      transferSelector: keccak256(toHex('transfer(address,uint256)')).slice(0, 10),
      transferTopic: keccak256(toHex('Transfer(address,address,uint256)')),
      jobId: job.verificationId,
      matchId: job.contract.matchId ?? '0',
    };
  }

  async function ask(
    method: string,
    path: string,
    { parameters = [], servers }: Operation,
    question: Question,
  ): Promise<ApiExample> {
    const shown = hostOf(servers?.[0]?.description);
    const usual: Readonly<Record<string, string>> = {
      ...{ chainId: String(DOCUMENTED_CHAIN_ID), ref: String(DOCUMENTED_CHAIN_ID) },
      address: facts.address,
    };
    const valueOf = (name: string): string => {
      const schema = parameters.find((parameter) => parameter.name === name)?.schema;
      return question.path?.[name] ?? usual[name] ?? String(schema?.example ?? name);
    };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name));
    const query = new URLSearchParams(question.query).toString();
    const target = `${filled}${query === '' ? '' : `?${query}`}`;
    const body = question.json === undefined ? undefined : JSON.stringify(question.json);
    const response = await fetch(`${hosts()[shown] ?? ''}${target}`, {
      method: method.toUpperCase(),
      redirect: 'manual',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...question.headers,
      },
      ...(body !== undefined && { body }),
      ...((question.form ?? question.files) && { body: formOf(question) }),
    });
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    const answer = showAnswer(type, await readBody(response, type), question.isVolatile === true);
    const fix = (text: string): string => steady(text, { ...hosts(), ...NODE });
    return {
      request: fix(curlOf(method, `${shown}${target}`, question)),
      ...{ status: response.status, type },
      answer: fix(answer),
    };
  }

  const hosts = (): Readonly<Record<string, string>> => ({
    'http://localhost:5555': service.apiUrl,
    'http://localhost:10000': service.repositoryUrl,
    'http://127.0.0.1:5557': service.operatorUrl ?? '',
  });

  test('cover every operation, and the service responds as documented', async () => {
    const questions = questionsOf(facts);
    const examples: Record<string, ApiExample> = {};
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    const askEach = async (isChange: boolean): Promise<void> => {
      for (const { path, method, operation } of operations) {
        if ((method !== 'get') !== isChange) continue;
        const name = `${method.toUpperCase()} ${path}`;
        examples[name] = await ask(method, path, operation, questions[name] ?? {});
      }
    };
    // Submissions appear in lists at any later time.
    await askEach(false);
    await askEach(true);
    expect(Object.keys(questions).filter((name) => !(name in examples))).toEqual([]);
    await expect(`${JSON.stringify(examples, null, 2)}\n`).toMatchFileSnapshot(EXAMPLES);
  });
});

/** The documentation shows one Node version, whichever runs the tests. */
const NODE = { '20.20.2': process.versions.node };

function hostOf(description: string | undefined): string {
  if (description === 'The repository host') return 'http://localhost:10000';
  return description === undefined ? 'http://localhost:5555' : 'http://127.0.0.1:5557';
}

/** Returns the first event of a stream, which does not end, and the whole of any other body. */
async function readBody(response: Response, type: string): Promise<Buffer> {
  if (type !== 'text/event-stream') return Buffer.from(await response.arrayBuffer());
  const chunks: Buffer[] = [];
  for await (const chunk of response.body ?? []) {
    chunks.push(Buffer.from(chunk as Uint8Array));
    if (Buffer.concat(chunks).includes('event: ')) break;
  }
  return Buffer.concat(chunks);
}

/** Builds the form of an example request, as multipart if it contains files. */
function formOf({ form = {}, files }: Question): URLSearchParams | FormData {
  if (files === undefined) return new URLSearchParams(form);
  const parts = new FormData();
  for (const [name, value] of Object.entries(form)) parts.append(name, value);
  for (const [name, [file, text]] of Object.entries(files))
    parts.append(name, new Blob([text]), file);
  return parts;
}

const SHOWN_BODY = 300;

/** Renders the command that sends a request; shortens a long body. */
function curlOf(
  method: string,
  url: string,
  { json, form, files, headers = {} }: Question,
): string {
  const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const cut = (text: string): string =>
    text.length <= SHOWN_BODY ? text : `${text.slice(0, SHOWN_BODY)}…`;
  const parts = [
    'curl',
    ...(method === 'get' || form || files || json ? [] : ['-X', 'POST']),
    quote(url),
  ];
  for (const [name, value] of Object.entries(headers)) parts.push('-H', quote(`${name}: ${value}`));
  if (json !== undefined) {
    parts.push('-H', quote('content-type: application/json'));
    parts.push('-d', quote(cut(JSON.stringify(json))));
  }
  for (const [name, value] of Object.entries(form ?? {})) {
    if (files) parts.push('-F', quote(cut(`${name}=${value}`)));
    else parts.push('--data-urlencode', quote(cut(`${name}=${value}`)));
  }
  for (const [name, [file]] of Object.entries(files ?? {})) {
    parts.push('-F', quote(`${name}=@${file}`));
  }
  return parts.join(' ');
}
