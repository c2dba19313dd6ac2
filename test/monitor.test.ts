// The monitor of a running service, with a real node and an IPFS gateway of the test.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';
import { sql } from '../src/store/database.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { startGateway, type IpfsGateway } from './support/ipfs-gateway.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { post } from './support/verification-client.ts';
import { waitUntil } from './support/wait-for.ts';

const LICENSE = '// SPDX-License-Identifier: MIT\n';
const SOURCE = `${LICENSE}contract Pinned { uint256 public kept = 7; function keep(uint256 v) external { kept = v; } }`;
const FACTORY = `${LICENSE}contract Child { uint256 public immutable at; address public immutable owner; uint256 public kept;
  constructor(uint256 a) { at = a; owner = msg.sender; } function keep(uint256 v) external { kept = v * at; } }
contract Factory { Child[] public children; function make(uint256 count) external {
  for (uint256 i = 0; i < count; i++) { children.push(new Child(i)); } } }`;

type Counts = Record<string, { full_match: number; partial_match: number }>;

describeWith([ANVIL], 'the monitor', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let gateway: IpfsGateway;
  let service: BootedService;
  beforeAll(async () => {
    [testDatabase, anvil, gateway] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      startGateway(),
    ]);
    const yaml = configOf(anvil, `    monitor: true\nmonitor: { gateways: ["${gateway.url}"] }\n`);
    service = await bootService({ databaseUrl: testDatabase.url, yaml });
    await waitUntil(async () => (await isMonitored()) === true);
  });
  afterAll(async () => {
    await service.close();
    await gateway.close();
    await anvil.stop();
    await testDatabase.drop();
  });

  const readJson = async <T>(url: string): Promise<T> => (await (await fetch(url)).json()) as T;
  const isMonitored = async (): Promise<boolean | undefined> => {
    const chains = await readJson<{ chainId: number; monitored: boolean }[]>(
      `${service.apiUrl}/chains`,
    );
    return chains.find(({ chainId }) => chainId === VERIFIED_CHAIN_ID)?.monitored;
  };
  const counts = async () =>
    (await readJson<Counts>(`${service.repositoryUrl}/stats.json`))[VERIFIED_CHAIN_ID] ?? {
      full_match: 0,
      partial_match: 0,
    };
  let labels = 0;
  const query = <Row extends object>(text: string): Promise<Row[]> =>
    testDatabase.database.query<Row>(sql(`test ${(labels += 1)}`, text));

  test('verifies an unsubmitted contract with metadata from a gateway, with origin monitored', async () => {
    const { creationCode, metadata } = await compileAsDeveloper(
      '0.8.37',
      inputOf({ 'Pinned.sol': SOURCE }, { evmVersion: 'shanghai' }),
      'Pinned.sol',
      'Pinned',
    );
    gateway.addFile(Buffer.from(metadata));
    gateway.addFile(Buffer.from(SOURCE));
    const ending = new AbortController();
    const events = await fetch(`${service.apiUrl}/v1/events`, { signal: ending.signal });
    let stream = '';
    const listening = (async () => {
      for await (const chunk of events.body ?? []) stream += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    const before = await counts();
    const { address } = await deploy(anvil, creationCode);
    await waitUntil(async () => (await counts()).full_match === before.full_match + 1);
    await waitUntil(async () => stream.includes('"origin":"monitored"'));
    ending.abort();
    await listening;
    expect(stream.toLowerCase()).toContain(address.slice(2));
    expect(gateway.asked.length).toBeGreaterThanOrEqual(2);
    await expect
      .poll(() => query(`SELECT state, reason FROM seen_creations`))
      .toEqual([{ state: 'verified', reason: 'sources' }]);
  });

  test('verifies every child of a verified factory, without sources and without a gateway', async () => {
    const input = inputOf({ 'Factory.sol': FACTORY }, { evmVersion: 'shanghai' });
    const { creationCode } = await compileAsDeveloper('0.8.37', input, 'Factory.sol', 'Factory');
    const { address } = await deploy(anvil, creationCode);
    const body = {
      stdJsonInput: input,
      compilerVersion: '0.8.37',
      contractIdentifier: 'Factory.sol:Factory',
    };
    const path = `${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`;
    const { full_match: beforeFactory } = await counts();
    expect((await post(path, body)).status).toBe(202);
    // The factory's own match; the later ones belong to its children.
    await waitUntil(async () => (await counts()).full_match === beforeFactory + 1);
    await waitUntil(
      async () =>
        (
          await query(
            `SELECT FROM known_contracts WHERE fully_qualified_name = 'Factory.sol:Child'`,
          )
        ).length > 0,
    );
    const asked = gateway.asked.length;
    const before = await counts();
    const selector = Buffer.from(keccak256(Buffer.from('make(uint256)')))
      .toString('hex')
      .slice(0, 8);
    const count = 100;
    const argument = (count / 10).toString(16).padStart(64, '0');
    const data: Hex = `0x${selector}${argument}`;
    for (let sent = 0; sent < 10; sent += 1) {
      expect(await anvil.send({ to: address, data, gas: '0x1c9c380' })).toMatchObject({
        status: '0x1',
      });
    }
    await waitUntil(async () => (await counts()).full_match === before.full_match + count);
    expect(gateway.asked.length).toBe(asked);
    await waitUntil(
      async () => (await query(`SELECT FROM seen_creations WHERE state = 'waiting'`)).length === 0,
    );
    const states = await query(
      `SELECT state, reason, count(*)::int AS n FROM seen_creations WHERE factory IS NOT NULL GROUP BY 1, 2`,
    );
    expect(states).toEqual([{ state: 'verified', reason: 'known_code', n: count }]);
  });
});
