// Requests that Blockscout sends to its signature provider and bytecode database, for contracts on a real
// node.
import { AbiParameters } from 'ox';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { withdrawMatch } from '../src/repository/repository.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { post } from './support/verification-client.ts';
import {
  inputOfTransaction,
  startVerifyingService,
  type VerifyingService,
} from './support/verifying-service.ts';

const VERSION = '0.8.30';
const SOURCES = {
  'src/Purse.sol': `contract Purse {
    struct Coin { address mint; uint96 value; }
    event Filled(address indexed by, string note, Coin[] coins, bytes32 indexed purpose);
    uint256 public immutable most;
    constructor(uint256 most_) { most = most_; }
    function fill(string calldata note, Coin[] calldata coins, bytes32 purpose) external {
      emit Filled(msg.sender, note, coins, purpose);
    }
  }
  contract Shop { Purse[] public purses; function sell() external { purses.push(new Purse(7)); } }`,
};
const INPUT = inputOf(SOURCES);
const PURPOSE = `0x${'5e'.repeat(32)}`;
const word = (value: number): string => value.toString(16).padStart(64, '0');

interface Abi {
  readonly name: string;
  readonly inputs: readonly {
    readonly name: string;
    readonly type: string;
    readonly indexed?: boolean;
    readonly value: string;
  }[];
}

describeWith([ANVIL], 'Blockscout integration', () => {
  let service: VerifyingService;
  let base: string;
  let address: Hex;
  let creationCode: string;
  let runtimeCode: string;
  let call: string;
  let log: { readonly topics: string; readonly data: string };

  beforeAll(async () => {
    service = await startVerifyingService();
    base = `${service.service.apiUrl}/blockscout`;
    const made = await compileAsDeveloper(VERSION, INPUT, 'src/Purse.sol', 'Purse');
    const deployed = await deploy(service.anvil, made.creationCode, word(9));
    address = deployed.address;
    creationCode = await inputOfTransaction(service.anvil, deployed.transactionHash);
    runtimeCode = await codeOf(address);
    const job = await service.verify(address, {
      stdJsonInput: INPUT,
      compilerVersion: '0.8.30+commit.73712a01',
      contractIdentifier: 'src/Purse.sol:Purse',
    });
    expect(job.error).toBeUndefined();
    const parameters = AbiParameters.from(['string', '(address,uint96)[]', 'bytes32']);
    const coins = [[address, 5n]];
    const values = ['for a rainy day', coins, PURPOSE] as never;
    const found = await fetch(
      `${service.service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=signatures`,
    );
    const { signatures } = (await found.json()) as {
      signatures: { function: { signature: string; signatureHash4: string }[] };
    };
    const fill = signatures.function.find(({ signature }) => signature.startsWith('fill('));
    call = `${fill?.signatureHash4}${AbiParameters.encode(parameters, values).slice(2)}`;
    const receipt = await service.anvil.send({ to: address, data: call });
    const { logs } = await service.anvil.request<{
      logs: { topics: string[]; data: string }[];
    }>('eth_getTransactionReceipt', [receipt.transactionHash]);
    log = { topics: (logs[0]?.topics ?? []).join(','), data: logs[0]?.data ?? '' };
    await vi.waitFor(
      async () =>
        expect(await readJson(`${base}/api/v1/abi/function?txInput=${call}`)).not.toEqual([]),
      { timeout: 90_000, interval: 100 },
    );
  });
  afterAll(() => service.close());

  const codeOf = (at: string) => service.anvil.request<string>('eth_getCode', [at, 'latest']);
  const readJson = async (url: string): Promise<unknown> => (await fetch(url)).json();
  const ask = async (path: string, body: object, at = base): Promise<unknown> =>
    (await post(`${at}/api/${path}`, body)).json();
  const argumentsOf = (abi: unknown) =>
    (abi as Abi[]).map(({ name, inputs }) => [
      name,
      ...inputs.map((each) => [each.name, each.type, each.value, each.indexed]),
    ]);
  const coins = () => `[(${address.slice(2)},5)]`;
  const event = () => [
    [
      'Filled',
      ['by', 'address', expect.stringMatching(/^[0-9a-f]{40}$/), true],
      ['note', 'string', 'for a rainy day', false],
      ['coins', '(address,uint96)[]', coins(), false],
      ['purpose', 'bytes32', PURPOSE.slice(2), true],
    ],
  ];

  describe('signature provider', () => {
    test('decodes transaction input, at the base path and at the root', async () => {
      for (const at of [base, service.service.apiUrl, `${service.service.apiUrl}/server`]) {
        for (const txInput of [call, call.slice(2)]) {
          expect(
            argumentsOf(await readJson(`${at}/api/v1/abi/function?txInput=${txInput}`)),
          ).toEqual([
            [
              'fill',
              ['arg0', 'string', 'for a rainy day', undefined],
              ['arg1', '(address,uint96)[]', coins(), undefined],
              ['arg2', 'bytes32', PURPOSE.slice(2), undefined],
            ],
          ]);
        }
      }
    });

    test('decodes an event with the parameter names and indexed flags of the contract', async () => {
      const query = `topics=${encodeURIComponent(log.topics)}&data=${log.data}`;
      expect(argumentsOf(await readJson(`${base}/api/v1/abi/event?${query}`))).toEqual(event());
    });

    test('decodes a batch of events, with or without an escaped colon in the path', async () => {
      const requests = [
        log,
        { topics: `0x${'ab'.repeat(32)}`, data: '0x' },
        { topics: log.topics.replaceAll('0x', ''), data: log.data.slice(2) },
        { topics: log.topics, data: `${log.data}00` },
      ];
      for (const path of ['events%3Abatch-get', 'events%3abatch-get', 'events:batch-get']) {
        const found = (await ask(`v1/abi/${path}`, { requests })) as { abi: unknown }[];
        expect(found.map(({ abi }) => argumentsOf(abi))).toEqual([event(), [], event(), []]);
      }
      expect(await ask('v1/abi/events:batch-get', { requests: [] })).toEqual([]);
    });

    test('imports the signatures of an ABI and decodes with them without a declaration', async () => {
      const abi = JSON.stringify([
        { type: 'event', name: 'Hinted', inputs: [{ type: 'uint8' }, { type: 'address' }] },
        { type: 'function', name: 'hint', inputs: [{ type: 'bool' }] },
      ]);
      expect(await ask('v1/signatures', { abi })).toEqual({});
      const search = `${service.service.apiUrl}/signature-database/v1/search?query=Hinted*`;
      const { result } = (await readJson(search)) as { result: { event: object } };
      const [topic] = Object.keys(result.event);
      const data = `0x${word(200)}`;
      const topics = `${topic},0x${address.slice(2).padStart(64, '0')}`;
      expect(
        argumentsOf(await readJson(`${base}/api/v1/abi/event?data=${data}&topics=${topics}`)),
      ).toEqual([
        ['Hinted', ['arg0', 'uint8', 'c8', false], ['arg1', 'address', address.slice(2), true]],
      ]);
    });

    test('returns an empty list for unknown input and rejects invalid requests', async () => {
      expect(await readJson(`${base}/api/v1/abi/function?txInput=0xffffffff`)).toEqual([]);
      expect(await readJson(`${base}/api/v1/abi/function?txInput=${call}00`)).toEqual([]);
      const topic = `0x${'ab'.repeat(32)}`;
      const statusOf = async (asked: Promise<Response>) => {
        const answer = await asked;
        return [answer.status, ((await answer.json()) as { code: string }).code];
      };
      const invalid = [400, 'invalid_parameter'];
      for (const query of [
        ...['function', 'function?txInput=0x12', 'function?txInput=zz', 'event?data=0x'],
        ...['event?data=0x&topics=', 'event?data=0x&topics=0x12', `event?data=0&topics=${topic}`],
        `event?data=0x&topics=${Array(5).fill(topic).join(',')}`,
      ]) {
        expect(await statusOf(fetch(`${base}/api/v1/abi/${query}`)), query).toEqual(invalid);
      }
      const asking = (path: string, body: object) => statusOf(post(`${base}/api/${path}`, body));
      const many = { requests: Array(501).fill(log) };
      expect(await asking('v1/abi/events:batch-get', many)).toEqual(invalid);
      expect(await asking('v1/abi/events:batch-get', {})).toEqual(invalid);
      expect(await asking('v1/signatures', { abi: '{}' })).toEqual(invalid);
      expect(await asking('v1/signatures', { abi: '[' })).toEqual([400, 'invalid_json']);
    });
  });

  describe('bytecode database', () => {
    /** Blockscout deserializes strictly: each key must be present, null or not. */
    const SOURCE_KEYS = [
      ...['abi', 'compilerVersion', 'constructorArguments', 'contractName', 'fileName'],
      ...['sourceFiles', 'compilerSettings', 'matchType'],
    ];
    type Found = Readonly<Record<string, Record<string, unknown>[]>>;
    const search = (which: string, body: object, at = base) =>
      ask(`v2/bytecodes/sources:${which}`, body, at) as Promise<Found>;
    const ofCreation = () => ({ bytecode: creationCode, bytecodeType: 'CREATION_INPUT' });
    const ofRuntime = () => ({ bytecode: runtimeCode, bytecodeType: 'DEPLOYED_BYTECODE' });
    const place = () => ({ chain: String(VERIFIED_CHAIN_ID), address });

    test('finds sources by creation and runtime bytecode, at the base path and at the root', async () => {
      for (const at of [base, service.service.apiUrl]) {
        const { sources = [] } = await search('search', ofCreation(), at);
        expect(sources).toMatchObject([
          {
            ...{ fileName: 'src/Purse.sol', contractName: 'Purse', sourceFiles: SOURCES },
            ...{ compilerVersion: 'v0.8.30+commit.73712a01', sourceType: 'SOLIDITY' },
            ...{ constructorArguments: `0x${word(9)}`, matchType: 'FULL', isBlueprint: false },
          },
        ]);
        expect(Object.keys(sources[0] ?? {})).toEqual(expect.arrayContaining(SOURCE_KEYS));
        expect(JSON.parse(String(sources[0]?.['compilerSettings']))).toMatchObject({
          optimizer: { enabled: true },
        });
        expect(await search('search', ofRuntime(), at)).toMatchObject({
          sources: [{ contractName: 'Purse', matchType: 'FULL', constructorArguments: null }],
        });
      }
    });

    test('finds another deployment with different arguments and immutables', async () => {
      const { creationCode: code } = await compileAsDeveloper(
        VERSION,
        INPUT,
        'src/Purse.sol',
        'Purse',
      );
      const other = await deploy(service.anvil, code, word(77));
      expect(
        await search('search', { ...ofRuntime(), bytecode: await codeOf(other.address) }),
      ).toMatchObject({ sources: [{ contractName: 'Purse', matchType: 'FULL' }] });
      expect(
        await search('search', { ...ofCreation(), bytecode: `0x${code}${word(77)}` }),
      ).toMatchObject({ sources: [{ constructorArguments: `0x${word(77)}`, matchType: 'FULL' }] });
    });

    test('reports a partial match for a changed comment and none for a changed byte', async () => {
      const commented = inputOf({ 'src/Purse.sol': `${SOURCES['src/Purse.sol']} // other` });
      const { creationCode: code } = await compileAsDeveloper(
        VERSION,
        commented,
        'src/Purse.sol',
        'Purse',
      );
      expect(
        await search('search', { ...ofCreation(), bytecode: `0x${code}${word(1)}` }),
      ).toMatchObject({ sources: [{ matchType: 'PARTIAL' }] });
      const { address: deployed } = await deploy(service.anvil, code, word(1));
      expect(
        await search('search', { ...ofRuntime(), bytecode: await codeOf(deployed) }),
      ).toMatchObject({ sources: [{ matchType: 'PARTIAL' }] });
      for (const asked of [ofCreation(), ofRuntime()]) {
        const middle = Math.floor(asked.bytecode.length / 4) * 2;
        const byte = asked.bytecode.slice(middle, middle + 2) === '00' ? '01' : '00';
        const bytecode = asked.bytecode.slice(0, middle) + byte + asked.bytecode.slice(middle + 2);
        expect(await search('search', { ...asked, bytecode })).toEqual({ sources: [] });
      }
    });

    test('finds another contract of the stored sources by compiling them', async () => {
      const { creationCode: code } = await compileAsDeveloper(
        VERSION,
        INPUT,
        'src/Purse.sol',
        'Shop',
      );
      const shop = await deploy(service.anvil, code);
      const bytecode = await codeOf(shop.address);
      await expect
        .poll(() => search('search', { ...ofRuntime(), bytecode }), { timeout: 90_000 })
        .toMatchObject({ sources: [{ contractName: 'Shop', matchType: 'FULL' }] });
    });

    test('returns its own matches in one of the three lists when all are requested', async () => {
      for (const code of [ofCreation(), ofRuntime()]) {
        expect(await search('search-all', { ...code, ...place(), onlyLocal: true })).toMatchObject({
          ethBytecodeDbSources: [{ contractName: 'Purse', matchType: 'FULL' }],
          ...{ sourcifySources: [], allianceSources: [] },
        });
      }
      const other = { ...ofRuntime(), bytecode: '0x6001600155', ...place() };
      expect(await search('search-all', other)).toEqual({
        ...{ ethBytecodeDbSources: [], sourcifySources: [], allianceSources: [] },
      });
    });

    test('returns the verified contract at an address', async () => {
      for (const which of ['search-sourcify', 'search-alliance']) {
        expect(await search(which, place())).toMatchObject({
          sources: [
            {
              ...{ contractName: 'Purse', matchType: 'FULL', sourceFiles: SOURCES },
              constructorArguments: `0x${word(9)}`,
            },
          ],
        });
        expect(await search(which, { ...place(), chain: '7' })).toEqual({ sources: [] });
        expect(await search(which, { chain: 'x', address: 'y' })).toEqual({ sources: [] });
      }
    });

    test('describes events by hash as contracts declare them', async () => {
      const [selector = ''] = log.topics.split(',');
      const described = {
        eventDescriptions: [
          {
            type: 'event',
            name: 'Filled',
            inputs: expect.stringContaining('"name":"by"') as unknown,
          },
        ],
      };
      const found = (await ask('v2/event-descriptions:search', { selector })) as {
        eventDescriptions: { inputs: string }[];
      };
      expect(found).toEqual(described);
      expect(JSON.parse(found.eventDescriptions[0]?.inputs ?? '')).toMatchObject([
        { name: 'by', type: 'address', indexed: true },
        { name: 'note', type: 'string', indexed: false },
        { name: 'coins', type: 'tuple[]', components: [{ name: 'mint' }, { name: 'value' }] },
        { name: 'purpose', type: 'bytes32', indexed: true },
      ]);
      const unknown = `0x${'ab'.repeat(32)}`;
      const selectors = [unknown, selector, selector];
      expect(await ask('v2/event-descriptions:batch-search', { selectors })).toEqual({
        responses: [{ eventDescriptions: [] }, described, described],
      });
    });

    test('counts verified contracts', async () => {
      await expect
        .poll(() => readJson(`${base}/api/v2/alliance/stats`))
        .toEqual({ totalContracts: 1, contractsPerProvider: { fullmatch: 1 } });
    });

    test('rejects invalid requests', async () => {
      const codeOfAnswer = async (path: string, body: object) => {
        const answer = await post(`${base}/api/v2/${path}`, body);
        return [answer.status, ((await answer.json()) as { code: string }).code];
      };
      const invalid = [400, 'invalid_parameter'];
      for (const body of [
        ...[{}, { bytecode: '0x6' }, { ...ofRuntime(), bytecodeType: 'OTHER' }],
        { ...ofRuntime(), bytecode: '' },
      ]) {
        expect(await codeOfAnswer('bytecodes/sources:search', body)).toEqual(invalid);
      }
      const large = { ...ofRuntime(), bytecode: `0x${'00'.repeat(525_000)}` };
      expect(await codeOfAnswer('bytecodes/sources:search', large)).toEqual([
        413,
        'request_too_large',
      ]);
      expect(await codeOfAnswer('event-descriptions:search', { selector: '0x12' })).toEqual(
        invalid,
      );
      const many = { selectors: Array(101).fill(`0x${'ab'.repeat(32)}`) };
      expect(await codeOfAnswer('event-descriptions:batch-search', many)).toEqual(invalid);
    });

    test('finds no withdrawn match', async () => {
      const { database } = service.testDatabase;
      await withdrawMatch(database, { chainId: VERIFIED_CHAIN_ID, address, reason: 'test' });
      for (const code of [ofCreation(), ofRuntime()]) {
        expect(await search('search', code)).toEqual({ sources: [] });
      }
      expect(await search('search-sourcify', place())).toEqual({ sources: [] });
    });
  });
});
