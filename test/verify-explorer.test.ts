// Contracts imported from another explorer: from a second Fullmatch, and from fake servers in the formats of
// others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { configOf, deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { pollJob, post, verifyOverV2, type WireJob } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';
import { startWebServer, type WebServer } from './support/web-server.ts';
import { waitUntil } from './support/wait-for.ts';
import { Gate } from './support/gate.ts';
import { countRequestsOf } from './support/count-requests.ts';

const VERSION = '0.8.30';
const LONG_VERSION = '0.8.30+commit.73712a01';
const EXACT = { runtimeMatch: 'exact_match', creationMatch: 'exact_match' };
const OPERATORS_KEY = 'OPERATORSKEY0123456789ABCDEF';
const CLIENTS_KEY = 'CLIENTSKEY0123456789ABCDEFGHI';

interface Answer {
  readonly status: number;
  readonly body: string;
}

describeWith([ANVIL], 'import from other explorers', () => {
  let first: VerifyingService;
  let explorer: WebServer;
  let testDatabase: TestDatabase;
  /** The importing service, which receives the responses of `says`. */
  let service: BootedService;
  let says: (asked: URLSearchParams, path: string) => Answer | Promise<Answer>;
  const questions: URLSearchParams[] = [];
  let used = 0;
  /** YAML: the folder of the compilers. */
  let compilers = '';

  beforeAll(async () => {
    explorer = await startWebServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://explorer.test');
      questions.push(url.searchParams);
      void Promise.resolve(says(url.searchParams, url.pathname)).then(({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(body),
      );
    });
    [first, testDatabase] = await Promise.all([
      startVerifyingService((folder) => (compilers = `compilers: { folder: ${folder} }\n`)),
      createTestDatabase(),
    ]);
    const etherscan = `etherscan: { url: '${explorer.url}/{chainId}/api' }\n`;
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf(first.anvil, `${compilers}${etherscan}`),
      environment: { FULLMATCH_ETHERSCAN_API_KEY: OPERATORS_KEY },
    });
  });
  afterAll(async () => {
    await service.close();
    await explorer.close();
    await first.close();
    await testDatabase.drop();
  });

  const deployed = async (input: TestInput, path: string, name: string): Promise<Hex> => {
    const { creationCode } = await compileAsDeveloper(VERSION, input, path, name);
    return (await deploy(first.anvil, creationCode)).address;
  };
  const takeOver = (address: string, body: unknown = {}, chainId = VERIFIED_CHAIN_ID) =>
    post(`${service.apiUrl}/v2/verify/etherscan/${chainId}/${address}`, body);
  const verify = async (address: string, body: unknown = {}): Promise<WireJob> => {
    const response = await takeOver(address, body);
    expect(await response.clone().text()).toContain('verificationId');
    expect(response.status).toBe(202);
    const { verificationId } = (await response.json()) as { verificationId: string };
    return pollJob(service.apiUrl, verificationId);
  };
  const record = (members: object) => ({
    ...{ ContractName: 'Box', CompilerVersion: `v${LONG_VERSION}`, EVMVersion: 'Default' },
    ...{ OptimizationUsed: '1', Runs: '200', Library: '', ABI: '[]', Proxy: '0' },
    ...members,
  });
  const answerWith = (members: object) => () => ({
    status: 200,
    body: JSON.stringify({ status: '1', message: 'OK', result: [record(members)] }),
  });
  /** A separate source for each test, so that no job is shared. */
  const box = (more = '') =>
    `// ${(used += 1)}\n${more}contract Box { uint public n = ${used}; function set(uint to) public { n = to; } }`;
  const unused = () => `0x${(used += 1).toString(16).padStart(40, '7')}`;

  test('another Fullmatch produces a full match through its getsourcecode', async () => {
    const input = inputOf({ 'a/Box.sol': box() });
    const address = await deployed(input, 'a/Box.sol', 'Box');
    await verifyOverV2(first.service.apiUrl, address, {
      ...{ stdJsonInput: input, compilerVersion: LONG_VERSION },
      contractIdentifier: 'a/Box.sol:Box',
    });
    says = async (asked, path) => {
      expect(path).toBe(`/${VERIFIED_CHAIN_ID}/api`);
      const response = await fetch(`${first.service.apiUrl}/v2/api?${asked.toString()}`);
      return { status: response.status, body: await response.text() };
    };
    const job = await verify(address);
    expect(job.contract).toMatchObject(EXACT);
    expect(questions.at(-1)).toEqual(
      new URLSearchParams({
        ...{ chainid: String(VERIFIED_CHAIN_ID), module: 'contract', action: 'getsourcecode' },
        ...{ address, apikey: OPERATORS_KEY },
      }),
    );
    expect((await takeOver(address)).status).toBe(409);
    const url = `${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=signatures.function`;
    const { signatures } = (await (await fetch(url)).json()) as { signatures: object };
    expect(signatures).toEqual({
      function: [
        expect.objectContaining({ signature: 'n()' }),
        {
          ...{ signature: 'set(uint256)', signatureHash4: '0x60fe47b1' },
          signatureHash32: expect.stringMatching(/^0x60fe47b1[0-9a-f]{56}$/) as string,
        },
      ],
    });
  });

  test('a Blockscout submits an address and gets the stored match', async () => {
    const input = inputOf({ 'one/Box.sol': box() });
    const address = await deployed(input, 'one/Box.sol', 'Box');
    says = answerWith({
      SourceCode: `{${JSON.stringify(input)}}`,
      ContractFileName: 'one/Box.sol',
    });
    const url = `${service.apiUrl}/blockscout/api/v2/verifier/sourcify/sources:verify-from-etherscan`;
    const take = async (body: object) => (await (await post(url, body)).json()) as object;
    const asked = { address, chain: String(VERIFIED_CHAIN_ID) };
    const source = { fileName: 'one/Box.sol', contractName: 'Box', matchType: 'FULL' };
    expect(await take(asked)).toMatchObject({ status: 'SUCCESS', source });
    expect(await take({ ...asked, address: unused() })).toMatchObject({ status: 'FAILURE' });
    expect(await take({ ...asked, chain: '99' })).toMatchObject({
      status: 'FAILURE',
      source: null,
    });
  });

  test('standard JSON in braces is imported with the contract of its file', async () => {
    const input = inputOf({ 'x.sol': box(), 'y.sol': 'contract Box { uint public other; }' });
    const address = await deployed(input, 'y.sol', 'Box');
    says = answerWith({ SourceCode: `{${JSON.stringify(input)}}`, ContractFileName: 'y.sol' });
    expect((await verify(address)).contract).toMatchObject(EXACT);
  });

  test('standard JSON without a file name gets its contract from the on-chain bytecode', async () => {
    const input = inputOf({ 'x.sol': box(), 'y.sol': `contract Box { uint public z = ${used}; }` });
    const address = await deployed(input, 'y.sol', 'Box');
    says = answerWith({ SourceCode: `{${JSON.stringify(input)}}` });
    expect((await verify(address)).contract).toMatchObject(EXACT);
  });

  test('several sources as JSON are compiled with the settings next to them', async () => {
    const sources = { 'l.sol': 'library L { }', 'b.sol': box('import "./l.sol";\n') };
    const input = inputOf(sources, { optimizer: { enabled: true, runs: 77 }, evmVersion: 'paris' });
    const address = await deployed(input, 'b.sol', 'Box');
    says = answerWith({
      ...{ SourceCode: JSON.stringify(input.sources), Runs: '77', EVMVersion: 'Paris' },
    });
    expect((await verify(address)).contract).toMatchObject(EXACT);
  });

  test('a single source is named after the contract, and a library by its address', async () => {
    const library = `library Sum { function sum(uint a) public pure returns (uint) { return a + ${used}; } }`;
    const at = `0x${'1b'.repeat(20)}`;
    const source = `${library}\ncontract Box { function f(uint a) public pure returns (uint) { return Sum.sum(a); } }`;
    const input = inputOf({ 'Box.sol': source }, { libraries: { 'Box.sol': { Sum: at } } });
    await first.anvil.request('anvil_setCode', [at, '0x6001']);
    const address = await deployed(input, 'Box.sol', 'Box');
    says = answerWith({ SourceCode: source, Library: `Sum:${at.slice(2)}` });
    expect((await verify(address)).contract).toMatchObject(EXACT);
  });

  test('the Blockscout response format is supported too', async () => {
    const sources = { 'c/Lib.sol': 'library L { }', 'c/Box.sol': box('import "./Lib.sol";\n') };
    const input = inputOf(sources);
    const address = await deployed(input, 'c/Box.sol', 'Box');
    says = answerWith({
      ...{ SourceCode: sources['c/Box.sol'], FileName: 'c/Box.sol', OptimizationUsed: 'true' },
      ...{ OptimizationRuns: 200, CompilerSettings: input.settings, ContractFileName: null },
      AdditionalSources: [{ Filename: 'c/Lib.sol', SourceCode: sources['c/Lib.sol'] }],
    });
    expect((await verify(address)).contract).toMatchObject(EXACT);
  });

  test('sources of other bytecode do not match', async () => {
    const address = await deployed(inputOf({ 'Box.sol': box() }), 'Box.sol', 'Box');
    says = answerWith({ SourceCode: 'contract Box { address public someoneElse; }' });
    expect((await verify(address)).error?.customCode).toBe('bytecode_length_mismatch');
  });

  const text = (status: number, body: string) => () => ({ status, body });
  const said = (result: unknown, message = 'NOTOK') =>
    text(200, JSON.stringify({ status: '0', message, result }));
  test.each<[string, () => Answer, number, string]>([
    ['an empty source', answerWith({ SourceCode: '' }), 404, 'not_etherscan_verified'],
    ['“not verified”', said('Contract source code not verified'), 404, 'not_etherscan_verified'],
    ['a rate limit', said('Max rate limit reached'), 429, 'etherscan_limit'],
    ['status 500', text(500, 'oh'), 502, 'etherscan_request_failed'],
    ['an invalid key', said('Invalid API Key'), 502, 'etherscan_request_failed'],
    ['an HTML page', text(200, '<!doctype html><p>hello'), 502, 'malformed_etherscan_response'],
    ['no record', said([], 'OK'), 502, 'malformed_etherscan_response'],
    [
      'members of wrong types',
      said([{ SourceCode: 7 }], 'OK'),
      502,
      'malformed_etherscan_response',
    ],
    [
      'broken JSON in braces',
      answerWith({ SourceCode: '{{"language":' }),
      502,
      'malformed_etherscan_response',
    ],
    ['JSON nested too deeply', text(200, '['.repeat(5000)), 502, 'malformed_etherscan_response'],
  ])(
    'an explorer that returns %s is distinguished from a missing contract',
    async (_what, answer, status, code) => {
      says = answer;
      const response = await takeOver(unused(), { apiKey: ` k${used} ` });
      expect(response.status).toBe(status);
      expect(((await response.json()) as { customCode: string }).customCode).toBe(code);
    },
  );

  test.each([
    ['is unreachable', undefined, 502, 'etherscan_request_failed'],
    ['rate-limits requests', 429, 429, 'etherscan_limit'],
  ])('an explorer that %s is reported without naming it', async (_what, answers, status, code) => {
    const { close, port, url } = await startWebServer((_request, response) => {
      response.writeHead(answers ?? 200).end();
    });
    if (answers === undefined) await close();
    const database = await createTestDatabase();
    const other = await bootService({
      databaseUrl: database.url,
      yaml: configOf(first.anvil, `etherscan: { url: '${url}/api' }\n`),
    });
    const response = await post(
      `${other.apiUrl}/v2/verify/etherscan/${VERIFIED_CHAIN_ID}/${unused()}`,
      {},
    );
    expect(response.status).toBe(status);
    const body = await response.text();
    expect(body).toContain(code);
    expect(body).not.toContain(String(port));
    await other.close();
    await database.drop();
    if (answers !== undefined) await close();
  });

  test("a client's key replaces the operator’s at the explorer, and neither is ever exposed", async () => {
    says = (asked) => said(`Invalid API Key (${asked.get('apikey')})`)();
    const texts = [];
    for (const body of [{ apiKey: CLIENTS_KEY }, {}]) {
      texts.push(await (await takeOver(unused(), body)).text());
    }
    expect(questions.slice(-2).map((asked) => asked.get('apikey'))).toEqual([
      CLIENTS_KEY,
      OPERATORS_KEY,
    ]);
    const shown = `${texts.join('')}${service.logText()}`;
    expect(shown).toContain('Invalid API Key (***)');
    expect(shown).not.toContain(CLIENTS_KEY);
    expect(shown).not.toContain(OPERATORS_KEY);
  });

  test("without an operator key, a client's key selects the public explorer, except for local chains", async () => {
    const database = await createTestDatabase();
    const [open, local] = [VERIFIED_CHAIN_ID, 424_243];
    const other = await bootService({
      databaseUrl: database.url,
      yaml: `
registry: { include: configured, defaults: false }
etherscan: { clientKeyUrl: '${explorer.url}/by-key' }
${compilers}chains:
  ${open}: { name: Test chain, privateRpc: ['${first.anvil.url}'] }
  ${local}: { name: Own chain, local: true, privateRpc: ['${first.anvil.url}'] }
`,
    });
    const input = inputOf({ 'a/Key.sol': box() });
    const address = await deployed(input, 'a/Key.sol', 'Box');
    says = (_asked, path) => {
      expect(path).toBe('/by-key');
      return answerWith({
        SourceCode: `{${JSON.stringify(input)}}`,
        ContractFileName: 'a/Key.sol',
      })();
    };
    const ask = async (chainId: number, body: object) => {
      const url = `${other.apiUrl}/v2/verify/etherscan/${chainId}/${address}`;
      return (await (await post(url, body)).json()) as WireError & Record<string, string>;
    };
    const before = questions.length;
    const keyless = await ask(open, {});
    expect(keyless).toMatchObject({ customCode: 'unsupported_chain' });
    expect(keyless['message']).toContain('send your own Etherscan API key as apiKey');
    const own = await ask(local, { apiKey: CLIENTS_KEY });
    expect(own).toMatchObject({ customCode: 'unsupported_chain' });
    expect(own['message']).toContain('the operator can set etherscan.url');
    expect(questions).toHaveLength(before);
    const { verificationId = '' } = await ask(open, { apiKey: CLIENTS_KEY });
    expect((await pollJob(other.apiUrl, verificationId)).contract).toMatchObject(EXACT);
    expect(questions.at(-1)?.get('apikey')).toBe(CLIENTS_KEY);
    expect(questions.at(-1)?.get('chainid')).toBe(String(open));
    expect(other.logText()).not.toContain(CLIENTS_KEY);
    await other.close();
    await database.drop();
  });

  test('two concurrent requests for one contract query the explorer once', async () => {
    const address = unused();
    const before = questions.length;
    const gate = new Gate();
    says = async () => {
      await gate.opened;
      return said('Contract source code not verified')();
    };
    const takeOvers = countRequestsOf(`/v2/verify/etherscan/${VERIFIED_CHAIN_ID}/${address}`);
    const asked = [1, 2].map(async () => (await takeOver(address)).status);
    await waitUntil(() => takeOvers.count() === 2 && questions.length > before);
    // A later request has been answered, so both are at the explorer or wait for its response.
    await takeOver(unused(), {}, 5);
    gate.open();
    expect(await Promise.all(asked)).toEqual([404, 404]);
    takeOvers.stop();
    expect(questions.length - before).toBe(1);
  });

  test('no explorer is queried for unsupported chains or with an invalid body', async () => {
    const before = questions.length;
    const foreign = await takeOver(unused(), {}, 5);
    expect([foreign.status, ((await foreign.json()) as WireError).customCode]).toEqual([
      ...[400, 'unsupported_chain'],
    ]);
    expect((await takeOver(unused(), { apiKey: 7 })).status).toBe(400);
    expect((await takeOver(unused(), { apiKey: 'k'.repeat(513) })).status).toBe(400);
    const none = await post(
      `${first.service.apiUrl}/v2/verify/etherscan/${VERIFIED_CHAIN_ID}/${unused()}`,
      {},
    );
    expect([none.status, ((await none.json()) as WireError).customCode]).toEqual([
      ...[400, 'unsupported_chain'],
    ]);
    expect(questions).toHaveLength(before);
  });
});

interface WireError {
  readonly customCode: string;
}
