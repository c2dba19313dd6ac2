import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { bytesToHex, checksumAddress, type Hex } from '../src/lib/hex.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { sampleContract } from './support/sample-contracts.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const IMPLEMENTATION = `0x${'ab'.repeat(20)}`;
const WORD = `0x${'0'.repeat(24)}${'ab'.repeat(20)}`;
/**
 * Delegates to another contract; any bytecode with the opcode will do, since values are put where proxies
 * keep them.
 */
const DELEGATES = '0x5f5f5f5f5f5af400';
const MINIMAL = `0x363d3d373d3d3d363d73${'ab'.repeat(20)}5af43d82803e903d91602b57fd5bf3`;
/** Responds to every call with the address. */
const BEACON = `0x73${'ab'.repeat(20)}5f5260205ff3`;
const SLOTS = {
  implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  beacon: '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
  zeppelin: '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
  proxiable: '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
};
const BEACON_AT = `0x${'be'.repeat(20)}`;
/** Response of a diamond with one facet to every call, followed by the opcode that delegates. */
const DIAMOND = `0x60205f52600160205273${'ab'.repeat(20)}60405260605ff3f4`;
const NO_IMPLEMENTATION =
  'A corresponding implementation contract was unfortunately not detected for the proxy address.';

describeWith([ANVIL], 'proxies', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let service: BootedService;
  let used = 0;
  /** Places bytecode and storage slots at a new address. */
  const put = async (
    code: string,
    slots: Readonly<Record<string, string>> = {},
    address = `0x11${(used += 1).toString(16).padStart(38, '0')}`,
  ): Promise<string> => {
    await anvil.request('anvil_setCode', [address, code]);
    for (const [slot, value] of Object.entries(slots)) {
      await anvil.request('anvil_setStorageAt', [address, slot, value]);
    }
    await anvil.request('evm_mine', []);
    return address;
  };
  const send = async (fields: Record<string, string>): Promise<Record<string, string>> => {
    const body = new URLSearchParams({ module: 'contract', ...fields });
    const url = `${service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/etherscan/api`;
    return (await (await fetch(url, { method: 'POST', body })).json()) as Record<string, string>;
  };
  const check = async (
    address: string,
    expectedimplementation = '',
  ): Promise<Record<string, string>> => {
    const action = 'verifyproxycontract';
    const { result = '' } = await send({ action, address, expectedimplementation });
    return send({ action: 'checkproxyverification', guid: result });
  };

  beforeAll(async () => {
    [testDatabase, anvil] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
    ]);
    service = await bootService({ databaseUrl: testDatabase.url, yaml: configOf(anvil) });
  }, 60_000);
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await testDatabase.drop();
  });

  test.each<[string, string, Readonly<Record<string, string>>]>([
    ['EIP-1167', MINIMAL, {}],
    ['EIP-1967', DELEGATES, { [SLOTS.implementation]: WORD }],
    [
      'EIP-1967 with a beacon',
      DELEGATES,
      { [SLOTS.beacon]: `0x${'0'.repeat(24)}${'be'.repeat(20)}` },
    ],
    ['ZeppelinOS', DELEGATES, { [SLOTS.zeppelin]: WORD }],
    ['EIP-1822', DELEGATES, { [SLOTS.proxiable]: WORD }],
    ['Safe', `${DELEGATES}63a619486e`, { [`0x${'0'.repeat(64)}`]: WORD }],
    ['EIP-2535', DIAMOND, {}],
  ])('of %s are detected with their implementations', async (_kind, code, slots) => {
    await put(BEACON, {}, BEACON_AT);
    const address = await put(code, slots);
    const answer = await check(address, IMPLEMENTATION);
    expect(answer).toMatchObject({ status: '1', message: 'OK' });
    expect(answer['result']?.toLowerCase()).toBe(
      `the proxy's (${address}) implementation contract is found at ${IMPLEMENTATION} and is successfully updated.`,
    );
    expect(await check(address, BEACON_AT)).toMatchObject({
      status: '0',
      result:
        'The provided expected results are different than the retrieved implementation address!',
    });
  });

  test.each<[string, string, Readonly<Record<string, string>>, string]>([
    [
      'code that cannot delegate',
      '0x60f400',
      { [SLOTS.implementation]: WORD },
      'This contract does not look like it contains any delegatecall opcode sequence.',
    ],
    ['empty slots', DELEGATES, {}, NO_IMPLEMENTATION],
    [
      'a slot without a valid address',
      DELEGATES,
      { [SLOTS.implementation]: `0x${'ab'.repeat(32)}` },
      NO_IMPLEMENTATION,
    ],
    [
      'a beacon without code',
      DELEGATES,
      { [SLOTS.beacon]: `0x${'0'.repeat(24)}${'cd'.repeat(20)}` },
      NO_IMPLEMENTATION,
    ],
    [
      'a contract that uses its first slot for something else',
      DELEGATES,
      { [`0x${'0'.repeat(64)}`]: WORD },
      NO_IMPLEMENTATION,
    ],
  ])('are not detected in %s', async (_what, code, slots, text) => {
    expect(await check(await put(code, slots))).toMatchObject({ status: '0', result: text });
  });

  describe('as a field of API v2', () => {
    const FIELDS =
      'sources,compilation.compilerVersion,compilation.compilerSettings,compilation.name,proxyResolution';
    const save = (address: string, chainId = VERIFIED_CHAIN_ID) => {
      const contract = sampleContract(chainId, address as Hex, { runtimeMatch: 'full' });
      return saveMatch(testDatabase.database, contract);
    };
    const read = async (address: string, fields: string, chainId = VERIFIED_CHAIN_ID) => {
      const url = `${service.apiUrl}/v2/contract/${chainId}/${address}?fields=${fields}`;
      const answer = await fetch(url);
      const body = (await answer.json()) as Record<string, unknown>;
      return { status: answer.status, tag: answer.headers.get('etag'), body };
    };
    const shown = (address: string): Hex => checksumAddress(address);

    test('include the implementation, and its name once it is verified', async () => {
      const target = `0x${'9a'.repeat(20)}`;
      const slots = { [SLOTS.implementation]: `0x${'0'.repeat(24)}${'9a'.repeat(20)}` };
      const address = await put(DELEGATES, slots);
      await save(address);
      const before = await read(address, FIELDS);
      expect(before).toMatchObject({
        status: 200,
        body: {
          compilation: { name: 'Sample' },
          proxyResolution: {
            ...{ isProxy: true, proxyType: 'EIP1967Proxy' },
            implementations: [{ address: shown(target) }],
          },
        },
      });
      expect(before.body['sources']).toBeDefined();
      expect((await read(address, FIELDS)).tag).toBe(before.tag);
      await save(target);
      expect((await read(address, 'proxyResolution.implementations')).body).toMatchObject({
        proxyResolution: { implementations: [{ address: shown(target), name: 'Sample' }] },
      });
      expect((await read(address, 'all')).body).not.toHaveProperty('proxyResolution');
    });

    test('include every facet of a diamond', async () => {
      const address = await put(DIAMOND);
      await save(address);
      expect((await read(address, 'proxyResolution')).body['proxyResolution']).toEqual({
        ...{ isProxy: true, proxyType: 'DiamondProxy' },
        implementations: [{ address: shown(IMPLEMENTATION) }],
      });
    });

    test('are null for other contracts, and an error in the field if the chain is unavailable', async () => {
      const address = await put('0x60f400');
      await save(address);
      expect((await read(address, 'proxyResolution')).body['proxyResolution']).toEqual({
        ...{ isProxy: false, proxyType: null, implementations: [] },
      });
      const elsewhere = bytesToHex(Buffer.alloc(20, 0x5c));
      await save(elsewhere, 5);
      const unread = await read(elsewhere, 'abi,proxyResolution', 5);
      expect(unread.status).toBe(200);
      expect(unread.body['proxyResolution']).toMatchObject({
        proxyResolutionError: { customCode: 'proxy_resolution_error' },
      });
      expect((await read(elsewhere, 'abi,proxyResolution', 5)).tag).toBe(unread.tag);
    });

    test('cost no chain requests for an unverified contract', async () => {
      const address = await put(DELEGATES, { [SLOTS.implementation]: WORD });
      expect(await read(address, 'proxyResolution')).toMatchObject({
        status: 404,
        body: { match: null },
      });
    });
  });

  describe('in API v1 lookups', () => {
    const save = (address: string, chainId = VERIFIED_CHAIN_ID) =>
      saveMatch(
        testDatabase.database,
        sampleContract(chainId, address as Hex, { runtimeMatch: 'full' }),
      );
    const look = async (query: string) => {
      const answer = await fetch(`${service.apiUrl}/check-all-by-addresses?${query}`);
      return { status: answer.status, body: await answer.json() };
    };

    test('are returned on request, and an error if the chain is unavailable', async () => {
      const address = await put(DELEGATES, { [SLOTS.implementation]: WORD });
      const plain = await put('0x60f400');
      const unread = `0x${'5d'.repeat(20)}`;
      await Promise.all([save(address), save(plain), save(unread, 5)]);
      const unverified = `0x${'5e'.repeat(20)}`;
      const query = `addresses=${[address, plain, unread, unverified].join(',')}&chainIds=${VERIFIED_CHAIN_ID},5`;
      const chainId = String(VERIFIED_CHAIN_ID);
      expect(await look(`${query}&resolveProxies=true`)).toEqual({
        status: 200,
        body: [
          {
            address: checksumAddress(address as Hex),
            chainIds: [
              {
                ...{ chainId, status: 'perfect', isProxy: true, proxyType: 'EIP1967Proxy' },
                implementations: [{ address: checksumAddress(IMPLEMENTATION as Hex) }],
              },
            ],
          },
          {
            address: checksumAddress(plain as Hex),
            chainIds: [
              {
                ...{ chainId, status: 'perfect', isProxy: false, proxyType: null },
                implementations: [],
              },
            ],
          },
          {
            address: checksumAddress(unread as Hex),
            chainIds: [
              {
                ...{ chainId: '5', status: 'perfect' },
                proxyResolutionError: expect.any(String) as string,
              },
            ],
          },
          { address: checksumAddress(unverified as Hex), status: 'false' },
        ],
      });
      for (const more of ['', '&resolveProxies=false']) {
        const { body } = await look(`${query}${more}`);
        expect(JSON.stringify(body)).not.toMatch(/isProxy|proxyResolution/);
      }
    });

    test('are rejected for more contracts than one request may query', async () => {
      const addresses = Array.from(
        { length: 17 },
        (_, index) => `0x${(0xd0_00_00 + index).toString(16).padStart(40, '2')}`,
      );
      for (const address of addresses) await save(address);
      const query = (count: number) =>
        `addresses=${addresses.slice(0, count).join(',')}&chainIds=${VERIFIED_CHAIN_ID}&resolveProxies=true`;
      expect((await look(query(17))).status).toBe(400);
      expect((await look(query(16))).status).toBe(200);
    });
  });

  test('are not detected where there is no bytecode', async () => {
    const answer = await check(`0x${'77'.repeat(20)}`);
    expect(answer).toMatchObject({ status: '0' });
    expect(answer['result']).toContain('does not look like');
  });

  describe('over time', () => {
    const UPGRADED = 'bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';
    /** Emits `Upgraded` with the word of its call data: indexed, and as before EIP-1967. */
    const EMITTERS = [
      ['indexed', `0x5f357f${UPGRADED}5f5fa200`],
      ['not indexed', `0x5f355f527f${UPGRADED}60205fa100`],
    ] as const;
    const upgradesOf = async (address: string): Promise<{ status: number; body: unknown }> => {
      const url = `${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/upgrades`;
      const response = await fetch(url);
      return { status: response.status, body: await response.json() };
    };
    const save = (address: string) =>
      saveMatch(
        testDatabase.database,
        sampleContract(VERIFIED_CHAIN_ID, address as Hex, { runtimeMatch: 'full' }),
      );

    test.each(EMITTERS)('are listed newest first, from events %s', async (_, code) => {
      const proxy = await put(code);
      await save(proxy);
      const implementations = [await put('0x00'), await put('0x01')];
      await save(implementations[0] ?? '');
      const receipts: Awaited<ReturnType<Anvil['send']>>[] = [];
      for (const each of implementations) {
        const data = `0x${each.slice(2).padStart(64, '0')}` as const;
        receipts.push(await anvil.send({ to: proxy as Hex, data }));
      }
      const upgradeOf = (index: number): object => ({
        implementation: checksumAddress(implementations[index] as Hex),
        blockNumber: Number(receipts[index]?.blockNumber),
        transactionHash: receipts[index]?.transactionHash,
      });
      expect((await upgradesOf(proxy)).body).toEqual({
        ...{ chainId: VERIFIED_CHAIN_ID, address: checksumAddress(proxy as Hex) },
        upgrades: [
          upgradeOf(1),
          { ...upgradeOf(0), name: 'Sample', match: 'full', origin: 'imported' },
        ],
        isComplete: true,
        lastBlock: expect.any(Number) as number,
      });
    });

    test('are read only for verified contracts', async () => {
      const proxy = await put(EMITTERS[0][1]);
      expect(await upgradesOf(proxy)).toMatchObject({
        status: 404,
        body: { code: 'contract_not_found' },
      });
    });
  });
});
