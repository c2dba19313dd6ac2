import { keccak256, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const VERSION = '0.8.30';
const LONG_VERSION = 'v0.8.30+commit.73712a01';
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Counter { uint256 public count; constructor(uint256 start) { count = start; } }`;
const PATH = 'src/Counter.sol';
const ARGUMENTS = '7'.padStart(64, '0');
const OTHER_ARGUMENTS = '8'.padStart(64, '0');
const NOBODY = `0x${'0'.repeat(38)}ff`;

/** A response of the protocol. */
interface Answer {
  readonly status: string;
  readonly message: string;
  readonly result: string | readonly Readonly<Record<string, string>>[];
  readonly details?: Readonly<Record<string, string>>;
}

describeWith([ANVIL], 'Etherscan protocol', () => {
  let service: VerifyingService;
  let base: string;
  let address: string;
  let transactionHash: string;
  const input = inputOf({ [PATH]: SOURCE });
  const ownPath = `/evm/${VERIFIED_CHAIN_ID}/etherscan/api`;
  const scoutPath = `/evm/${VERIFIED_CHAIN_ID}/blockscout/api`;

  const read = async (response: Response): Promise<Answer> => {
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  };
  const ask = async (fields: Record<string, string>, path = ownPath): Promise<Answer> => {
    const query = new URLSearchParams({ module: 'contract', apikey: 'canary-of-a-key', ...fields });
    return read(await fetch(`${base}${path}?${query.toString()}`));
  };
  const send = async (
    fields: Record<string, string>,
    path = ownPath,
    body: URLSearchParams | FormData = new URLSearchParams(),
  ): Promise<Answer> => {
    const all = { module: 'contract', apikey: 'canary-of-a-key', ...fields };
    for (const [name, value] of Object.entries(all)) body.append(name, value);
    return read(await fetch(`${base}${path}`, { method: 'POST', body }));
  };
  const ofStandardJson = (more: Record<string, string> = {}): Record<string, string> => ({
    action: 'verifysourcecode',
    contractaddress: address,
    sourceCode: JSON.stringify(input),
    codeformat: 'solidity-standard-json-input',
    contractname: `${PATH}:Counter`,
    compilerversion: LONG_VERSION,
    ...more,
  });
  const endOf = async (guid: unknown, path = ownPath): Promise<Answer> => {
    for (;;) {
      const answer = await ask({ action: 'checkverifystatus', guid: String(guid) }, path);
      if (answer.result !== 'Pending in queue') return answer;
    }
  };
  const deployCounter = async (): Promise<{ address: string; transactionHash: string }> => {
    const { creationCode } = await compileAsDeveloper(VERSION, input, PATH, 'Counter');
    return deploy(service.anvil, creationCode, ARGUMENTS);
  };

  beforeAll(async () => {
    service = await startVerifyingService();
    base = service.service.apiUrl;
    ({ address, transactionHash } = await deployCounter());
  }, 60_000);
  afterAll(() => service.close());

  test('reports nothing for an unverified contract', async () => {
    expect(await ask({ action: 'getabi', address })).toEqual({
      ...{ status: '0', message: 'NOTOK', result: 'Contract source code not verified' },
    });
    expect(await ask({ action: 'getsourcecode', address })).toMatchObject({
      status: '1',
      result: [{ SourceCode: '', ABI: 'Contract source code not verified', Proxy: '0' }],
    });
  });

  test('finds the creation of an unverified contract and none for an account', async () => {
    const action = 'getcontractcreation';
    const found = await ask({ action, contractaddresses: `${address},${NOBODY}` });
    expect(found).toMatchObject({ status: '1', result: [{ txHash: transactionHash }] });
    expect(found.result).toHaveLength(1);
    expect(await ask({ action, contractaddresses: NOBODY })).toEqual({
      ...{ status: '0', message: 'NOTOK', result: 'No data found' },
    });
  });

  test('reads the events of a contract from the chain, by topics and blocks', async () => {
    const source = `contract Emitter { event Made(uint256 indexed number, address by);
      constructor() { emit Made(7, msg.sender); emit Made(8, msg.sender); } }`;
    const emitterInput = inputOf({ 'a.sol': source });
    const { creationCode } = await compileAsDeveloper(VERSION, emitterInput, 'a.sol', 'Emitter');
    const emitter = await deploy(service.anvil, creationCode);
    const topic0 = keccak256(toHex('Made(uint256,address)'));
    const logs = { module: 'logs', action: 'getLogs', address: emitter.address, topic0 };
    const made = await ask({ ...logs, fromBlock: '0', toBlock: 'latest' });
    expect(made).toMatchObject({ status: '1', message: 'OK' });
    expect(made.result).toMatchObject([
      { transactionHash: emitter.transactionHash, topics: [topic0, `0x${'7'.padStart(64, '0')}`] },
      { transactionHash: emitter.transactionHash, topics: [topic0, `0x${'8'.padStart(64, '0')}`] },
    ]);
    const topic1 = `0x${'8'.padStart(64, '0')}`;
    for (const narrowed of [
      { topic1, topic0_1_opr: 'and' },
      { page: '2', offset: '1' },
    ]) {
      expect((await ask({ ...logs, ...narrowed }, scoutPath)).result).toMatchObject([
        { topics: [topic0, topic1] },
      ]);
    }
    for (const none of [{ topic0: topic1 }, { fromBlock: '999999999' }, { address: NOBODY }]) {
      expect(await ask({ ...logs, ...none })).toEqual({
        ...{ status: '0', message: 'No records found', result: [] },
      });
    }
    const wrongs = [{ topic0: '0x12' }, { fromBlock: 'x' }, { address: '' }, { page: '0' }];
    for (const wrong of [...wrongs, { topic1, topic0_1_opr: 'or' }]) {
      expect(await ask({ ...logs, ...wrong })).toMatchObject({ status: '0', message: 'NOTOK' });
    }
    expect((await ask({ ...logs, action: 'getabi' })).result).toContain('Action');
  });

  test('compares the constructor arguments with those on chain', async () => {
    const given = { constructorArguements: OTHER_ARGUMENTS };
    const { result: guid } = await send(ofStandardJson(given));
    expect(await endOf(guid)).toMatchObject({
      status: '0',
      message: 'NOTOK',
      result: 'Fail - Unable to verify',
      details: { customCode: 'constructor_arguments_differ' },
    });
    expect(await service.contractAt(address)).toMatchObject({ match: null });
  });

  test('returns the failure message that each client recognizes', async () => {
    const other = inputOf({ [PATH]: SOURCE.replaceAll('count', 'total') });
    const { result } = await send(ofStandardJson({ sourceCode: JSON.stringify(other) }));
    const guid = result as string;
    const exact = 'Fail - Unable to verify';
    expect(await endOf(guid)).toMatchObject({ status: '0', result: exact });
    expect(await endOf(guid, scoutPath)).toMatchObject({
      status: '1',
      message: 'OK',
      result: exact,
    });
    // The diagnosis precedes the fact.
    const reason = expect.stringMatching(
      /^Fail - Unable to verify\. Differs in src\/Counter\.sol:3; your sources .*The bytecode on chain differs from the compiled bytecode\./,
    ) as string;
    for (const path of [ownPath, scoutPath]) {
      const posted = await send({ action: 'checkverifystatus', guid }, path);
      expect(posted).toMatchObject({ status: '0', result: reason });
    }
    const chainid = String(VERIFIED_CHAIN_ID);
    const named = await ask({ action: 'checkverifystatus', guid, chainid }, '/v2/api');
    expect(named).toMatchObject({ status: '0', result: reason });
  });

  test('verifies a standard JSON input and then returns the contract', async () => {
    const chainid = String(VERIFIED_CHAIN_ID);
    const more = { chainid, constructorArguments: ARGUMENTS };
    const submitted = await send(ofStandardJson(more), '/v2/api');
    expect(submitted).toMatchObject({ status: '1', message: 'OK' });
    expect(await endOf(submitted.result)).toEqual({
      ...{ status: '1', message: 'OK', result: 'Pass - Verified' },
    });
    expect(await service.contractAt(address)).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: 'exact_match',
    });
    const { result } = await ask({ action: 'getsourcecode', address });
    const [record] = result as readonly Readonly<Record<string, string>>[];
    expect(record).toMatchObject({
      ContractName: 'Counter',
      ContractFileName: PATH,
      CompilerVersion: LONG_VERSION,
      CompilerType: 'solc',
      OptimizationUsed: '1',
      Runs: '200',
      ConstructorArguments: ARGUMENTS,
      EVMVersion: 'Default',
      LicenseType: 'MIT',
      Proxy: '0',
      Implementation: '',
    });
    const source = record?.['SourceCode'] ?? '';
    expect(source).toMatch(/^\{\{.*\}\}$/s);
    expect(JSON.parse(source.slice(1, -1))).toMatchObject({
      language: 'Solidity',
      sources: { [PATH]: { content: SOURCE } },
    });
    const abi = await ask({ action: 'getabi', address, chainid }, '/api');
    expect(JSON.parse(abi.result as string)).toHaveLength(2);
    const creations = await ask({
      action: 'getcontractcreation',
      contractaddresses: `${NOBODY},${address}`,
    });
    expect(creations.result).toMatchObject([
      { contractAddress: expect.stringMatching(/^0x/) as string, txHash: transactionHash },
    ]);
  });

  test.each([
    ['etherscan', 'Contract source code already verified'],
    ['blockscout', 'Smart-contract already verified.'],
  ])('describes a verified contract at …/%s as: %s', async (dialect, text) => {
    const path = `/evm/${VERIFIED_CHAIN_ID}/${dialect}`;
    expect(await send(ofStandardJson(), path)).toEqual({
      ...{ status: '0', message: 'NOTOK', result: text },
    });
  });

  test.each([
    ['etherscan', /^Unable to locate ContractCode at 0x0{38}FF$/i],
    ['blockscout', /^The address is not a smart contract$/],
  ])('returns at …/%s for an address without bytecode: %s', async (dialect, text) => {
    const path = `/evm/${VERIFIED_CHAIN_ID}/${dialect}`;
    const answer = await send(ofStandardJson({ contractaddress: NOBODY }), path);
    expect(answer).toMatchObject({ status: '0', message: 'NOTOK' });
    expect(answer.result).toMatch(text);
  });

  test('verifies a single file sent in parts whose metadata names another path', async () => {
    const deployed = await deployCounter();
    const submitted = await send(
      {
        action: 'verifysourcecode',
        contractaddress: deployed.address,
        sourceCode: SOURCE,
        codeformat: 'solidity-single-file',
        contractname: 'Counter',
        compilerversion: LONG_VERSION,
        optimizationUsed: '1',
        runs: '200',
        evmversion: 'Default',
        licenseType: '3',
      },
      ownPath,
      new FormData(),
    );
    expect(await endOf(submitted.result)).toMatchObject({ result: 'Pass - Verified' });
    expect(await service.contractAt(deployed.address)).toMatchObject({ match: 'match' });
  });

  test('accepts query parameters with a body, names without a path, and double braces', async () => {
    const deployed = await deployCounter();
    const query = new URLSearchParams({
      ...{ module: 'contract', action: 'verifysourcecode', chainid: String(VERIFIED_CHAIN_ID) },
    });
    const submitted = await send(
      ofStandardJson({
        contractaddress: deployed.address,
        contractname: 'Counter',
        sourceCode: `{${JSON.stringify(input)}}`,
        constructorArguments: '',
      }),
      `/api?${query.toString()}`,
    );
    expect(await endOf(submitted.result)).toMatchObject({ result: 'Pass - Verified' });
  });

  test('returns the id of a running job for the same verification', async () => {
    const deployed = await deployCounter();
    const fields = ofStandardJson({ contractaddress: deployed.address });
    const [one, two] = await Promise.all([send(fields), send(fields)]);
    expect([one.result, 'Contract source code already verified']).toContain(two.result);
  });

  test.each<[string, Record<string, string>, RegExp, string?]>([
    ['an invalid address', { action: 'getabi', address: '0x1' }, /Invalid address format/i],
    ['no address', { action: 'getsourcecode' }, /address is missing/],
    ['no chain', { action: 'getabi', address: NOBODY }, /chainid/, '/api'],
    [
      'an unknown chain',
      { action: 'getabi', address: NOBODY, chainid: '99' },
      /chainid/,
      '/v2/api',
    ],
    ['an invalid chain', { action: 'getabi', address: NOBODY }, /chainid/, '/evm/x/etherscan'],
    ['an unsupported module', { module: 'account', action: 'balance' }, /Module name/],
    ['an unsupported action', { action: '__proto__' }, /Action name/],
    ['an unknown job', { action: 'checkverifystatus', guid: 'nothing' }, /^Unknown UID$/],
    ['an unknown proxy job', { action: 'checkproxyverification', guid: 'x' }, /^Unknown UID$/],
    [
      'six creations in one request',
      { action: 'getcontractcreation', contractaddresses: Array(6).fill(NOBODY).join() },
      /more than 5/,
    ],
  ])('rejects %s with status 200', async (_what, fields, text, path) => {
    const answer = await ask(fields, path);
    expect(answer).toMatchObject({ status: '0', message: 'NOTOK' });
    expect(answer.result).toMatch(text);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['invalid JSON', { sourceCode: '{' }, /sourceCode is refused/],
    ['no source', { sourceCode: '' }, /sourceCode is missing/],
    ['an unknown format', { codeformat: 'x' }, /codeformat/],
    ['arguments that are not hex', { constructorArguments: 'xyz' }, /constructorArguments/],
    ['a contract that no source declares', { contractname: 'Other' }, /contractname/],
    [
      'sources by URL',
      { sourceCode: '{"language":"Solidity","sources":{"a":{"urls":[]}}}' },
      /sources/,
    ],
  ])('rejects a submission with %s', async (_what, more, text) => {
    const answer = await send(ofStandardJson(more));
    expect(answer).toMatchObject({ status: '0', message: 'NOTOK' });
    expect(answer.result).toMatch(text);
  });

  test('lists its chains with explorers that lead to its pages', async () => {
    const response = await fetch(`${base}/v2/chainlist`);
    const list = (await response.json()) as {
      totalcount: number;
      result: Record<string, string>[];
    };
    expect(list).toMatchObject({
      totalcount: 1,
      result: [
        {
          chainid: String(VERIFIED_CHAIN_ID),
          apiurl: `${base}/v2/api?chainid=${VERIFIED_CHAIN_ID}`,
        },
      ],
    });
    const explorer = list.result[0]?.['blockexplorer'] ?? '';
    for (const below of ['', '/etherscan', '/blockscout']) {
      for (const url of [
        `${explorer}${below}`,
        `${explorer.replace(base, `${base}/server`)}${below}`,
      ]) {
        const page = await fetch(`${url}/address/${address}`);
        expect(page.status).toBe(200);
        expect(new URL(page.url).pathname.toLowerCase()).toMatch(
          `/contract/${VERIFIED_CHAIN_ID}/${address}`,
        );
      }
    }
  });

  test('returns listener errors in its own format too', async () => {
    const body = new URLSearchParams({ sourceCode: 'x'.repeat(40_000_000) });
    const response = await fetch(`${base}${ownPath}`, { method: 'POST', body });
    expect(await read(response)).toMatchObject({ status: '0', message: 'NOTOK' });
  });

  test('never logs an API key', () => {
    expect(service.service.logText()).not.toContain('canary-of-a-key');
  });
});
