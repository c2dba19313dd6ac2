import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderClientTypes } from '../../scripts/client-types.ts';
import { buildOpenapiDocument } from '../../scripts/openapi-document.ts';
import { saveMatch, saveMatches } from '../../src/repository/matches/save-matches.ts';
import { ALL_CHAINS, bootService, type BootedService } from '../../test/support/booted-service.ts';
import { followed } from '../../test/support/followed.ts';
import { sampleAddress, sampleContract } from '../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { createFullmatchClient, FullmatchRequestError, type ServiceEvent } from '../src/index.ts';

/** A supported chain whose endpoint does not respond. */
const SILENT_CHAIN_ID = 424_242;
const YAML = `
chains:
  ${SILENT_CHAIN_ID}: { name: Silent, local: true, rpc: ['http://127.0.0.1:9'] }
`;

let testDatabase: TestDatabase;
let service: BootedService;
/** The paths that clients requested. */
const asked = new Set<string>();
const recordingFetch: typeof fetch = (input, init) => {
  asked.add(`${init?.method ?? 'GET'} ${new URL(new Request(input).url).pathname}`);
  return fetch(input, init);
};
const connect = () => createFullmatchClient({ ...service, fetch: recordingFetch });
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await saveMatch(
    testDatabase.database,
    sampleContract(1, sampleAddress(1), { runtimeMatch: 'full' }),
  );
  service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: YAML,
    environment: ALL_CHAINS,
  });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

describe('Client', () => {
  test('reads both documents, ignoring trailing slashes in its URLs', async () => {
    const client = createFullmatchClient({
      apiUrl: `${service.apiUrl}/server//`,
      repositoryUrl: `${service.repositoryUrl}/`,
      fetch: recordingFetch,
    });
    expect((await client.chains()).find(({ chainId }) => chainId === 1)?.shortName).toBe('eth');
    expect(await client.statistics()).toEqual({ '1': { full_match: 1, partial_match: 0 } });
  });

  test.each([1, '1', '0x1', 'eip155:1', 'eth'])('finds a chain by %s', async (reference) => {
    const client = connect();
    expect((await client.chain(reference))?.chainId).toBe(1);
  });

  test('reads endpoint health and the monitor state of a chain', async () => {
    const client = connect();
    const health = await client.chainHealth('eth');
    expect(health).toMatchObject({ chainId: 1, state: 'not_probed' });
    expect(health?.reasons[0]?.code).toBe('not_configured');
    expect(await client.chainHealth(999_999_999_999)).toBeUndefined();
    expect(await client.chainMonitor('eth')).toMatchObject({ chainId: 1, monitored: false });
    expect(await client.chainMonitor(999_999_999_999)).toBeUndefined();
  });

  test('returns undefined for an unknown chain and throws for an invalid reference', async () => {
    const client = connect();
    expect(await client.chain(999_999_999_999)).toBeUndefined();
    await expect(client.chain('0x00ffffffffffffffffffffff')).rejects.toBeInstanceOf(
      FullmatchRequestError,
    );
  });

  test('finds chains page by page with the requested fields', async () => {
    const client = connect();
    const search = { q: 'sepolia', testnet: true, fields: ['name'], limit: 2 } as const;
    const first = await client.findChains(search);
    expect(first.results.map((record) => Object.keys(record))).toEqual([
      ['name', 'chainId'],
      ['name', 'chainId'],
    ]);
    expect(first.total).toBeGreaterThan(first.matching);
    const second = await client.findChains({ ...search, after: first.next ?? 0 });
    expect(second.matching).toBe(first.matching);
    expect(second.results[0]!.chainId).toBeGreaterThan(first.results[1]!.chainId);
    expect((await client.findChains()).results).toHaveLength(100);
  });

  test('reads statistics history, and lists and finds contracts', async () => {
    const client = connect();
    await followed(service, testDatabase.database);
    const { totals } = await client.statisticsOverview();
    expect(totals).toMatchObject({ full: 1, partial: 0, chains: 1 });
    const { points, chains } = await client.statisticsHistory({ chains: [1, 5], interval: 'week' });
    expect(chains).toEqual([1, 5]);
    expect(points.at(-1)).toMatchObject({ full: 1, partial: 0 });
    const { results } = await client.contracts({ chain: 1, match: 'full', limit: 10 });
    expect(results.map(({ address }) => address)).toEqual([sampleAddress(1)]);
    expect((await client.searchContracts('sample')).results).toEqual(results);
    expect((await client.searchContracts('sample', { match: 'partial' })).results).toEqual([]);
    expect(await client.sameCode(1, sampleAddress(1))).toEqual({ results: [], next: null });
  });

  test('reads a contract with its parts, evidence and files, or undefined', async () => {
    const client = connect();
    const address = sampleAddress(1);
    const contract = await client.contract(1, address, { fields: ['abi', 'compilation.name'] });
    expect(contract).toMatchObject({ match: 'exact_match', compilation: { name: 'Sample' } });
    expect(await client.contractOnAllChains(address)).toMatchObject([{ chainId: '1' }]);
    expect(await client.evidence(1, address)).toMatchObject({ origin: 'imported', match: 'full' });
    const folder = await client.contractFolder('full', 1, address);
    expect(folder?.files.map(({ path }) => path)).toContain('metadata.json');

    const absent = sampleAddress(99);
    expect(await client.contract(1, absent)).toBeUndefined();
    expect(await client.contractOnAllChains(absent)).toEqual([]);
    expect(await client.evidence(1, absent)).toBeUndefined();
    expect(await client.contractEvents(1, address)).toMatchObject([
      { kind: 'stored', match: 'full', origin: 'imported' },
    ]);
    expect(await client.contractFolder('partial', 1, address)).toBeUndefined();
  });

  test('submits verifications and follows their jobs', async () => {
    const client = connect();
    const address = sampleAddress(2);
    const input = { language: 'Solidity', sources: { 'A.sol': { content: 'contract A {}' } } };
    const { verificationId } = await client.verify(SILENT_CHAIN_ID, address, {
      stdJsonInput: input,
      compilerVersion: '0.8.37',
      contractIdentifier: 'A.sol:A',
    });
    expect(await client.job(verificationId)).toMatchObject({ chainId: SILENT_CHAIN_ID });
    const taken = client.verifyFromExplorer(SILENT_CHAIN_ID, address);
    await expect(taken).rejects.toMatchObject({ code: 'unsupported_chain', status: 400 });
    const similar = await client.verifySimilar(SILENT_CHAIN_ID, address);
    expect(await client.job(similar.verificationId)).toMatchObject({ chainId: SILENT_CHAIN_ID });
    expect(await client.job('00000000-0000-4000-8000-000000000000')).toBeUndefined();
    expect(await client.cancelJob(similar.verificationId)).toMatchObject({
      id: similar.verificationId,
    });
    await expect(
      client.verifyMetadata(999_999_999_999, address, { metadata: {}, sources: {} }),
    ).rejects.toMatchObject({ status: 400, code: 'invalid_parameter' });
    const plain = await client.verifySources(SILENT_CHAIN_ID, sampleAddress(3), {
      files: { 'A.sol': 'contract A {}' },
      compilerVersion: '0.8.37',
    });
    expect(await client.job(plain.verificationId)).toMatchObject({ chainId: SILENT_CHAIN_ID });
    await expect(client.proposeCompiler(999_999_999_999, address)).rejects.toMatchObject({
      status: 400,
      code: 'unsupported_chain',
    });
  });

  test('reads health, version, manifest, registry and compilers', async () => {
    const client = connect();
    expect((await client.registry()).chains.map(({ chainId }) => chainId)).toContain(1);
    expect(await client.health()).toMatchObject({ ready: true });
    expect(await client.version()).toMatchObject({ name: 'fullmatch' });
    const { timestamp, dateString } = await client.manifest();
    expect(new Date(timestamp).toISOString()).toBe(dateString);
    expect(await client.compilers()).toBeDefined();
  });

  test('iterates over the contracts across pages', async () => {
    const addresses = [11, 12, 13, 14, 15].map(sampleAddress);
    const { database } = testDatabase;
    await saveMatches(
      database,
      addresses.map((address) => sampleContract(5, address, { runtimeMatch: 'full' })),
    );
    const found: string[] = [];
    for await (const { address } of connect().eachContract({ chain: 5, limit: 2 })) {
      found.push(address.toLowerCase());
    }
    expect(found.sort()).toEqual(addresses);
  });

  test('streams events, and after a disconnect delivers missed ones exactly once', async () => {
    let cut = new AbortController();
    let tellOpen: () => void;
    const opened = new Promise<void>((resolve) => (tellOpen = resolve));
    const cuttable: typeof fetch = async (input, init) => {
      const response = await recordingFetch(input, { ...init, signal: cut.signal });
      tellOpen();
      return response;
    };
    const client = createFullmatchClient({ ...service, fetch: cuttable });
    const save = (number: number) =>
      saveMatch(
        testDatabase.database,
        sampleContract(7, sampleAddress(number), { runtimeMatch: 'full' }),
      );
    const events = client.events();
    const saved = [21, 22, 23].map((number) => sampleAddress(number));
    // Events of earlier tests may arrive only now.
    const nextAddress = async (): Promise<string> => {
      for (;;) {
        const event: ServiceEvent = (await events.next()).value;
        const address = event.type === 'match' ? event.data.address : undefined;
        if (saved.some((each) => each === address)) return String(address);
      }
    };
    const first = nextAddress();
    await opened;
    await save(21);
    expect(await first).toBe(sampleAddress(21));
    cut.abort();
    cut = new AbortController();
    await save(22);
    expect(await nextAddress()).toBe(sampleAddress(22));
    await save(23);
    expect(await nextAddress()).toBe(sampleAddress(23));
    cut.abort();
  });

  test('reads the feed from its beginning and continues after a page', async () => {
    const client = connect();
    const first = await client.feed();
    expect(first.results[0]).toMatchObject({ kind: 'stored' });
    const later = await client.feed({ after: first.next ?? '' });
    expect(later).toEqual({ results: [], next: first.next, hasMore: false });
  });

  test('resumes events after an id, until the signal or the consumer ends them', async () => {
    const client = connect();
    for await (const event of client.events({ lastEventId: '0' })) {
      expect(event.lastEventId).toMatch(/^\d/);
      break;
    }
    const ending = new AbortController();
    const next = client.events({ signal: ending.signal }).next();
    ending.abort();
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    const nowhere = createFullmatchClient({ ...service, apiUrl: `${service.apiUrl}/nowhere` });
    await expect(nowhere.events().next()).rejects.toMatchObject({ code: 'route_not_found' });
  });

  test("reads the origins of a chain's fields", async () => {
    const client = connect();
    const details = await client.chainDetails('eth');
    expect(details).toMatchObject({ record: { chainId: 1 }, testnet: false, hasIcon: false });
    expect(Object.keys(details?.origins ?? {})).toEqual(Object.keys(details?.record ?? {}));
    expect(await client.chainDetails(999_999_999_999)).toBeUndefined();
  });

  test('exposes the code of a problem and rejects non-JSON', async () => {
    const client = createFullmatchClient({
      apiUrl: `${service.apiUrl}/nowhere`,
      repositoryUrl: `${service.apiUrl}/healthz?`,
    });
    await expect(client.chains()).rejects.toMatchObject({ status: 404, code: 'route_not_found' });
    await expect(client.statistics()).rejects.toMatchObject({ status: 200, code: undefined });
  });

  test('stops when its signal aborts', async () => {
    const client = connect();
    await expect(client.chains({ signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

/** Routes without a client method, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'POST /mcp': 'a protocol with a client of its own',
  'POST /v1/contracts/{chainId}/{address}/list': 'for those who have a token',
  'GET /state': 'for the machine of the service alone',
  'POST /failures/{code}/retry': 'for the machine of the service alone',
  'POST /jobs/{id}/cancel': 'for the machine of the service alone',
  'POST /monitors/{chainId}/retry': 'for the machine of the service alone',
  'GET /badge/{chainId}/{file}': 'a picture for pages',
  'GET /card/{file}': 'a picture for pages',
  'GET /card/{chainId}/{file}': 'a picture for pages',
  'POST /blockscout/api/v2/verifier/solidity/methods:lookup': 'a protocol of Blockscout',
  'POST /blockscout/api/v2/verifier/sourcify/sources:verify': 'a protocol of Blockscout',
  'POST /blockscout/api/v2/verifier/sourcify/sources:verify-from-etherscan':
    'a protocol of Blockscout',
  'POST /blockscout/api/v2/bytecodes/sources:search': 'a protocol of other tools',
  'POST /blockscout/api/v2/bytecodes/sources:search-sourcify': 'a protocol of other tools',
  'POST /blockscout/api/v2/bytecodes/sources:search-alliance': 'a protocol of other tools',
  'POST /blockscout/api/v2/bytecodes/sources:search-all': 'a protocol of other tools',
  'POST /blockscout/api/v2/event-descriptions:search': 'a protocol of other tools',
  'POST /blockscout/api/v2/event-descriptions:batch-search': 'a protocol of other tools',
  'GET /blockscout/api/v2/alliance/stats': 'a protocol of other tools',
  'POST /blockscout/api/v1/signatures': 'a protocol of other tools',
  'GET /blockscout/api/v1/abi/function': 'a protocol of other tools',
  'GET /blockscout/api/v1/abi/event': 'a protocol of other tools',
  'POST /blockscout/api/v1/abi/events:batch-get': 'a protocol of other tools',
  'GET /evm/{chainId}/blockscout/api/v2/smart-contracts/verification/config':
    'a protocol of other tools',
  'GET /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}': 'a protocol of other tools',
  'POST /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}/verification/via/standard-input':
    'a protocol of other tools',
  'POST /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}/verification/via/vyper-standard-input':
    'a protocol of other tools',
  'POST /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}/verification/via/flattened-code':
    'a protocol of other tools',
  'POST /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}/verification/via/multi-part':
    'a protocol of other tools',
  'POST /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}/verification/via/vyper-code':
    'a protocol of other tools',
  'POST /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}/verification/via/vyper-multi-part':
    'a protocol of other tools',
  'POST /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}/verification/via/sourcify':
    'a protocol of other tools',
  'GET /signature-database/v1/lookup': 'a protocol of other tools',
  'GET /signature-database/v1/search': 'a protocol of other tools',
  'POST /signature-database/v1/import': 'a protocol of other tools',
  'GET /signature-database/v1/stats': 'a protocol of other tools',
  'GET /v1/chains/{ref}/icon': 'a picture: its URL belongs into a page',
  'GET /v2/contracts/{chainId}': 'contracts({ chain }) says more',
  'GET /v2/verify/{verificationId}': 'job() says more',
  'POST /': 'the verification API v1; verifyMetadata() does the same',
  'POST /verify': 'the verification API v1; verifyMetadata() does the same',
  'GET /check-all-by-addresses': 'the verification API v1; contractOnAllChains() says the same',
  'GET /check-by-addresses': 'the verification API v1; contractOnAllChains() says the same',
  'GET /files/any/{chainId}/{address}': 'the verification API v1; contract() has the sources',
  'GET /files/tree/any/{chainId}/{address}': 'the verification API v1; contractFolder() has them',
  'GET /files/contracts/{chainId}': 'the verification API v1; eachContract() has them',
  'GET /contracts': 'statistics() says more',
  'GET /contracts/{matchFolder}': 'statistics() says the same',
  'GET /contracts/{matchFolder}/{chainId}': 'contracts({ chain, match }) says more',
  'GET /contracts/{matchFolder}/{chainId}/{address}/{path}': 'a file: contractFolder() has its URL',
  'GET /checkAllByAddresses': 'an older spelling',
  'GET /checkByAddresses': 'an older spelling',
  'GET /files/contracts/{match}/{chainId}': 'the verification API v1; eachContract() has them',
  'GET /files/tree/{chainId}/{address}': 'the verification API v1; contractFolder() has them',
  'GET /files/{chainId}/{address}': 'the verification API v1; contract() has the sources',
  'GET /repository/contracts/{matchFolder}/{chainId}/{address}/{path}':
    'a file: contractFolder() has its URL',
  'GET /evm/{chainId}/address/{address}': 'leads people to a page',
  'GET /evm/{chainId}/blockscout/address/{address}': 'leads people to a page',
  'GET /evm/{chainId}/etherscan/address/{address}': 'leads people to a page',
  'GET /repo-ui/{chainId}/{address}': 'leads people to a page',
  'GET /verify-ui/jobs/{verificationId}': 'leads people to a page',
  'GET /v1/contracts/{chainId}/{address}/files/{file}': 'a file: contract() says the same',
  'GET /v1/contracts/{chainId}/{address}/alternatives/{matchId}':
    'for the page of a contract; evidence lists them',
  'GET /v1/contracts/{chainId}/{address}/sources':
    'for the page of a contract; contract() has the sources',
  'GET /v1/contracts/{chainId}/{address}/upgrades':
    'for the page of a contract: events of the chain',
  'GET /v1/contracts/{chainId}/{address}/withdrawn':
    'for the page of a contract; contractEvents() has the withdrawal',
  'GET /job/{id}': 'job() says more',
  'POST /blockscout/api/v2/verifier/solidity/sources:verify-standard-json':
    'the verifier of Blockscout',
  'POST /blockscout/api/v2/verifier/solidity/sources:verify-multi-part':
    'the verifier of Blockscout',
  'POST /blockscout/api/v2/verifier/vyper/sources:verify-standard-json':
    'the verifier of Blockscout',
  'POST /blockscout/api/v2/verifier/vyper/sources:verify-multi-part': 'the verifier of Blockscout',
  'POST /blockscout/api/v2/verifier/solidity/sources:batch-verify-standard-json':
    'the verifier of Blockscout',
  'POST /blockscout/api/v2/verifier/solidity/sources:batch-verify-multi-part':
    'the verifier of Blockscout',
  'GET /blockscout/api/v2/verifier/solidity/versions': 'the verifier of Blockscout',
  'GET /blockscout/api/v2/verifier/vyper/versions': 'the verifier of Blockscout',
  'GET /blockscout/health': 'the verifier of Blockscout',
  'GET /docs': 'a page',
  'GET /openapi.json': 'the document that the types of the client are made from',
  'GET /healthz': 'for load balancers; health() says more',
  'GET /readyz': 'for load balancers; health() says more',
  ...Object.fromEntries(
    [
      ...['/api', '/v2/api', '/evm/{chainId}/etherscan', '/evm/{chainId}/etherscan/api'],
      ...['/evm/{chainId}/blockscout', '/evm/{chainId}/blockscout/api'],
    ].flatMap((path) =>
      ['GET', 'POST'].map((method) => [
        `${method} ${path}`,
        'the Etherscan protocol, for tools that speak it',
      ]),
    ),
  ),
  'GET /v2/chainlist': 'the Etherscan protocol, for tools that speak it',
};

describe('Client and OpenAPI document', () => {
  const document = buildOpenapiDocument('0.0.0');

  // The tests above have made every request that the client can make.
  test('cover the same routes, except those omitted with a reason', () => {
    const uncovered = Object.entries(document.paths).flatMap(([template, operations]) => {
      const path = template.replaceAll(/[.]/g, String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+');
      return Object.keys(operations)
        .map((method) => method.toUpperCase())
        .filter(
          (method) => ![...asked].some((each) => new RegExp(`^${method} ${path}$`).test(each)),
        )
        .map((method) => `${method} ${template}`);
    });
    expect(uncovered.sort()).toEqual(Object.keys(LEFT_OUT).sort());
  });

  test('have the same schemas (run `npx tsx scripts/build-openapi.ts`)', async () => {
    const written = await readFile(new URL('../src/schemas.ts', import.meta.url), 'utf8');
    expect(written).toBe(await renderClientTypes(document));
  });
});
