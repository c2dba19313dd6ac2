// The monitor as operators see it, without wrong results: commands, responses, a stopped node, reorganised
// blocks. A killed process: monitor-killed.slow.test.ts.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { readStored } from './support/monitored-chain.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { type CliRun, runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post, verifyOverV2 } from './support/verification-client.ts';

const QUIET_CHAIN_ID = 515_151;
const sourceOf = (name: string): string => `// SPDX-License-Identifier: MIT
contract ${name} { string public constant called = "${name}"; uint256 public kept; function keep(uint256 v) external { kept = v; } }`;
const inputOfContract = (name: string) =>
  inputOf({ [`${name}.sol`]: sourceOf(name) }, { evmVersion: 'shanghai' });
const compile = (name: string) =>
  compileAsDeveloper('0.8.37', inputOfContract(name), `${name}.sol`, name);
const bodyOf = (name: string): object => ({
  stdJsonInput: inputOfContract(name),
  compilerVersion: '0.8.37',
  contractIdentifier: `${name}.sol:${name}`,
  origin: 'monitored',
});

interface MonitorAnswer {
  readonly monitored: boolean;
  readonly status: string;
  readonly cursor?: { readonly block: number; readonly lagBlocks: number };
  readonly found: number;
  readonly creations: readonly {
    readonly state: string;
    readonly reason: string;
    readonly count: number;
  }[];
}
interface HealthAnswer {
  readonly status: string;
  readonly reasons: readonly { readonly code: string; readonly detail: string }[];
  readonly monitor?: {
    readonly chains: number;
    readonly stopped: readonly { readonly chainId: number; readonly status: string }[];
  };
}

describeWith([ANVIL], 'the monitor for operators', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let service: BootedService;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

  const yamlOf = (more = ''): string =>
    configOf(
      anvil,
      `    monitor: { from: 0 }
  ${QUIET_CHAIN_ID}: { name: Quiet chain, shortName: quiet, local: true, rpc: ['${anvil.url}'] }
monitor: { gateways: [], stallSeconds: 10 }
${more}`,
    );
  beforeAll(async () => {
    [testDatabase, anvil, folder] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTemporaryFolder(),
    ]);
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), yamlOf());
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: yamlOf('metrics: { enabled: true, port: 0 }\n'),
    });
  });
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await testDatabase.drop();
    await folder.remove();
  });

  const readJson = async <T>(at: string): Promise<T> =>
    (await (await fetch(`${service.apiUrl}${at}`)).json()) as T;
  const isMonitored = async (): Promise<boolean | undefined> => {
    const chains = await readJson<{ chainId: number; monitored: boolean }[]>('/chains');
    return chains.find(({ chainId }) => chainId === VERIFIED_CHAIN_ID)?.monitored;
  };
  const readMonitor = (ref: string | number = VERIFIED_CHAIN_ID): Promise<MonitorAnswer> =>
    readJson<MonitorAnswer>(`/v1/chains/${ref}/monitor`);
  const head = async (): Promise<number> => Number(await anvil.request<Hex>('eth_blockNumber'));
  const eventsOf = async (address: Hex): Promise<readonly object[]> => {
    const at = `/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/events`;
    return (await readJson<{ results: readonly object[] }>(at)).results;
  };
  const monitor = (...args: string[]): Promise<CliRun> =>
    runInProcess(['monitor', ...args], {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    });
  const monitorJson = async <T>(...args: string[]): Promise<T> => {
    const { exitCode, stdout, stderr } = await monitor(...args, '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  };
  const caughtUp = async (): Promise<void> => {
    const block = await head();
    await expect.poll(async () => (await readMonitor()).cursor?.block).toBe(block);
  };

  test('reports found creations with their outcome, and nothing for a chain without a monitor', async () => {
    expect(await readMonitor('quiet')).toEqual({
      ...{ chainId: QUIET_CHAIN_ID, monitored: false, status: 'not_configured' },
      ...{ found: 0, creations: [], notes: [] },
    });
    expect((await fetch(`${service.apiUrl}/v1/chains/nowhere/monitor`)).status).toBe(404);
    const { creationCode } = await compile('Unknown');
    await deploy(anvil, creationCode);
    await expect.poll(readMonitor).toMatchObject({
      ...{ monitored: true, status: 'current', found: 1 },
      cursor: { startBlock: 0, block: 1, head: 1, lagBlocks: 0 },
      creations: [{ state: 'waiting', reason: 'metadata_unavailable', count: 1 }],
      gaps: { backfillRanges: 0, backfillBlocks: 0, untracedBlocks: 0 },
      notes: [],
    });
    expect(await readJson<HealthAnswer>('/health')).toMatchObject({
      monitor: { chains: 1, stopped: [] },
    });
  });

  test('is an origin that no client can claim: a submitted contract is stored as verified', async () => {
    const at = (address: Hex): string =>
      `${service.apiUrl}/v1/verify/sources/${VERIFIED_CHAIN_ID}/${address}`;
    const [v2, v1, sources] = [
      await compile('ByV2'),
      await compile('ByV1'),
      await compile('BySources'),
    ];
    const addresses: Hex[] = [];
    for (const { creationCode } of [v2, v1, sources]) {
      addresses.push((await deploy(anvil, creationCode)).address);
    }
    const [first = '0x', second = '0x', third = '0x'] = addresses;
    await verifyOverV2(service.apiUrl, first, bodyOf('ByV2'));
    const answered = await post(`${service.apiUrl}/verify`, {
      ...{ chain: String(VERIFIED_CHAIN_ID), address: second, origin: 'monitored' },
      files: { 'metadata.json': v1.metadata, 'ByV1.sol': sourceOf('ByV1') },
    });
    expect([answered.status, await answered.text()]).toMatchObject([200, expect.any(String)]);
    const submitted = await post(at(third), {
      ...{ files: { 'BySources.sol': sourceOf('BySources') }, compilerVersion: '0.8.37' },
      ...{ optimizer: { enabled: true, runs: 200 }, evmVersion: 'shanghai', origin: 'monitored' },
    });
    // A body with an unknown field is rejected, or accepted without it.
    if (submitted.status === 202) {
      const { verificationId } = (await submitted.json()) as { verificationId: string };
      await pollJob(service.apiUrl, verificationId);
      expect(await eventsOf(third)).toMatchObject([{ kind: 'stored', origin: 'verified' }]);
    } else expect(submitted.status).toBe(400);
    for (const address of [first, second]) {
      expect(await eventsOf(address)).toMatchObject([{ kind: 'stored', origin: 'verified' }]);
    }
  });

  test('is shown by fullmatch monitor status, as text and as JSON', async () => {
    await caughtUp();
    const [report] =
      await monitorJson<{ chainId: number; status: string; cursor: object }[]>('status');
    expect(report).toMatchObject({
      ...{ chainId: VERIFIED_CHAIN_ID, status: 'current' },
      cursor: { number: await head(), lag: 0, found: 4 },
      counts: expect.arrayContaining([expect.objectContaining({ state: 'waiting' })]) as object,
    });
    const { exitCode, stdout } = await monitor('status');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^chain +status +block +lag +found +verified +waiting +fault$/m);
    expect(stdout).toMatch(/^424242 +current +4 +0 +4 /m);
    expect(stdout).toMatch(/waiting +metadata_unavailable/);
    expect(await monitorJson('status', 'quiet')).toEqual([
      { chainId: QUIET_CHAIN_ID, status: 'not_configured', counts: [] },
    ]);
  });

  test.each([
    ['an unknown chain', ['status', 'nowhere'], 'chain_not_found'],
    [
      'a backfill of an unknown chain',
      ['backfill', 'nowhere', '--from', '1', '--to', '2'],
      'chain_not_found',
    ],
    [
      'a backfill of a chain without a monitor',
      ['backfill', 'quiet', '--from', '1', '--to', '2'],
      'invalid_parameter',
    ],
    ['a retry on a chain without a monitor', ['retry', 'quiet'], 'invalid_parameter'],
    ['a reversed range', ['backfill', '424242', '--from', '3', '--to', '2'], 'invalid_parameter'],
    ['an invalid address', ['retry', '424242', '0x12'], 'invalid_parameter'],
    ['an invalid block number', ['backfill', '424242', '--from', 'x', '--to', '2'], undefined],
  ] as const)('rejects %s', async (_, args, code) => {
    const { exitCode, stdout, stderr } = await monitor(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(code === undefined ? /number of a block/ : `error[${code}]: `);
    if (code === undefined) return;
    const told = await monitor(...args, '--json');
    expect(told.exitCode).toBe(1);
    expect(JSON.parse(told.stdout)).toMatchObject({ code });
  });

  test('reads older blocks and retries found creations on fullmatch monitor commands', async () => {
    const chain = String(VERIFIED_CHAIN_ID);
    const backfill = ['backfill', chain, '--from', '1', '--to', '3'] as const;
    expect(await monitorJson(...backfill)).toEqual({
      chainId: VERIFIED_CHAIN_ID,
      range: { first: 1, last: 3 },
    });
    expect((await monitor(...backfill)).stdout).toContain('requested blocks 1 to 3');
    await expect.poll(async () => (await monitor('gaps')).stdout).toBe('none\n');
    expect(await monitorJson('gaps', chain)).toEqual([
      { chainId: VERIFIED_CHAIN_ID, ranges: [], untraced: [], isCut: false },
    ]);
    const later = ['backfill', chain, '--from', '9000', '--to', '9001'] as const;
    expect((await monitor(...later)).stdout).toContain('nothing to do');
    expect(await monitorJson(...later)).toMatchObject({ range: null });
    // Contracts that their owners verified after the first attempt count as done on the next one.
    expect((await monitor('retry', chain)).stdout).toMatch(/^due now: [1-4] contracts, 0 ranges/);
    await expect.poll(readMonitor).toMatchObject({
      creations: [
        { state: 'waiting', reason: 'metadata_unavailable', count: 1 },
        { state: 'verified', reason: 'already_verified', count: 3 },
      ],
    });
    // It counts as waiting even when it is due, until its next attempt has ended.
    await expect
      .poll(() => monitorJson('retry', chain, '--reason', 'metadata_unavailable'))
      .toEqual({ creations: 1, ranges: 0 });
    expect((await monitor('retry', chain, '--reason', 'no_such')).stdout).toBe(
      'due now: 0 contracts, 0 ranges of blocks\n',
    );
    expect((await readStored(testDatabase.database, VERIFIED_CHAIN_ID)).length).toBe(4);
  });

  test('is covered by metrics', async () => {
    await caughtUp();
    const text = await (await fetch(`${service.metricsUrl ?? ''}/metrics`)).text();
    const chain = `{chain="${VERIFIED_CHAIN_ID}"`;
    expect(text).toContain(`fullmatch_monitor_lag_blocks${chain}} 0`);
    expect(text).toContain(`fullmatch_monitor_failing${chain}} 0`);
    expect(text).toContain(`fullmatch_monitor_creations_found${chain}} 4`);
    expect(text).toContain(`fullmatch_monitor_creations${chain},state="waiting"} 1`);
    expect(text).toContain(`fullmatch_monitor_creations${chain},state="verified"} 3`);
    expect(text).toMatch(/^fullmatch_monitor_requests\{outcome="granted"\} [1-9]/m);
  });

  test('withdraws the match of a contract that the chain finally reorged out', async () => {
    const { creationCode } = await compile('TakenBack');
    const { address } = await deploy(anvil, creationCode);
    const { contract } = await verifyOverV2(service.apiUrl, address, bodyOf('TakenBack'));
    expect(contract).toMatchObject({ runtimeMatch: 'exact_match' });
    await caughtUp();
    // Another transaction of the same account uses the nonce: this contract can never be created again.
    const replacing = {
      from: anvil.account,
      to: `0x${'11'.repeat(20)}`,
      value: '0x1',
      gas: '0x5208',
    };
    await anvil.request('anvil_reorg', [1, [[replacing, 0]]]);
    expect(await anvil.request('eth_getCode', [address, 'latest'])).toBe('0x');
    await expect
      .poll(async () => (await eventsOf(address))[0])
      .toMatchObject({
        ...{ kind: 'withdrawn', reason: 'creation_rolled_back' },
      });
    const stored = await readStored(testDatabase.database, VERIFIED_CHAIN_ID);
    expect(stored.join()).not.toContain(address);
    await caughtUp();
    expect(await readMonitor()).toMatchObject({ reorganisations: { count: 1 } });
  });

  test('is reported as stalled while its node is stopped and resumes afterwards', async () => {
    process.kill(anvil.processId, 'SIGSTOP');
    try {
      await expect.poll(isMonitored).toBe(false);
      await expect
        .poll(() => readJson<HealthAnswer>('/health'))
        .toMatchObject({
          status: 'degraded',
          reasons: expect.arrayContaining([
            expect.objectContaining({
              code: 'monitor_stopped',
              detail: expect.stringContaining(String(VERIFIED_CHAIN_ID)) as string,
            }),
          ]) as object,
          monitor: { chains: 1, stopped: [{ chainId: VERIFIED_CHAIN_ID, status: 'stalled' }] },
        });
      expect(await readMonitor()).toMatchObject({ monitored: false, status: 'stalled' });
    } finally {
      process.kill(anvil.processId, 'SIGCONT');
    }
    await expect.poll(isMonitored).toBe(true);
    await expect.poll(readMonitor).toMatchObject({ monitored: true, status: 'current' });
    await expect
      .poll(async () => (await readJson<HealthAnswer>('/health')).reasons.map(({ code }) => code))
      .not.toContain('monitor_stopped');
  });
});
