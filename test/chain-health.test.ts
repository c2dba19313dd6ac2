import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFullmatchClient } from '../client/src/index.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { type ServiceUrls } from '../src/service/open-hosts.ts';
import { type Service } from '../src/service/service.ts';
import { prepareService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { type RpcServer, startRpcServer } from './support/rpc-server.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

interface Health {
  readonly state: string;
  readonly since?: string;
  readonly reasons: readonly { readonly code: string; readonly detail: string }[];
  readonly endpoints: readonly {
    readonly label: string;
    readonly state: string;
    readonly since: string;
    readonly checkedAt: string;
    readonly reasons: readonly { readonly code: string }[];
  }[];
}

describeWith([ANVIL], 'chain health', () => {
  let testDatabase: TestDatabase;
  let service: Service;
  let urls: ServiceUrls;
  let logText: () => string;
  const closers: (() => Promise<void>)[] = [];
  let lasting: Anvil;
  let stopping: Anvil;
  let foreign: RpcServer;
  let yaml: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    [lasting, stopping] = [await startAnvil(), await startAnvil()];
    foreign = await startRpcServer({ eth_chainId: () => '0x5' });
    yaml = `
registry: { defaults: false }
health: { everySeconds: 1, dailyBudget: 1000000 }
metrics: { enabled: true, port: 0 }
chains:
  31337:
    local: true
    rpc: ["${lasting.url}"]
    privateRpc: ["${stopping.url}/?key=hidden-key"]
  77777: { name: Foreign, rpc: ["${foreign.url}"], local: true }
  88888: { name: Silent, rpc: [] }
`;
    ({ service, logText } = prepareService({ databaseUrl: testDatabase.url, yaml }));
    urls = await service.start();
  });
  afterAll(async () => {
    await service.close();
    await Promise.all([lasting.stop(), stopping.stop(), foreign.close()]);
    for (const close of closers) await close();
    await testDatabase.drop();
  });

  const read = async (ref: number | string): Promise<Health> => {
    const response = await fetch(`${urls.apiUrl}/v1/chains/${ref}/health`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    return (await response.json()) as Health;
  };
  const waitFor = async (ref: number, fits: (health: Health) => boolean): Promise<Health> => {
    await expect.poll(async () => fits(await read(ref))).toBe(true);
    return read(ref);
  };

  const allUp = ({ endpoints }: Health): boolean => endpoints.every(({ state }) => state === 'up');

  test('is up while all endpoints are up, and shows what each returned', async () => {
    const health = await waitFor(31_337, allUp);
    expect(health.reasons).toEqual([]);
    expect(health.endpoints).toMatchObject([
      { label: 'private-1', public: false, state: 'up', archive: 'yes', trace: 'yes' },
      { label: lasting.hostPort, public: true, state: 'up', head: { number: 0 }, lagBlocks: 0 },
    ]);
    for (const { since, checkedAt } of health.endpoints) {
      expect(Date.parse(since)).toBeLessThanOrEqual(Date.parse(checkedAt));
    }
  });

  test('names the stopped endpoint, the reason and the time', async () => {
    await waitFor(31_337, allUp);
    const stoppedAt = Date.now();
    await stopping.stop();
    const health = await waitFor(31_337, ({ state }) => state === 'degraded');
    const [stopped, other] = health.endpoints;
    expect(stopped).toMatchObject({ label: 'private-1', state: 'down' });
    expect(stopped?.reasons.map(({ code }) => code)).toEqual(['connection_failed']);
    expect(Date.parse(stopped!.since)).toBeGreaterThanOrEqual(stoppedAt);
    expect(Date.parse(stopped!.since)).toBeLessThanOrEqual(Date.now());
    expect(health.since).toBe(stopped!.since);
    expect(other).toMatchObject({ state: 'up', reasons: [] });
    expect(health.reasons).toEqual([{ code: 'down', detail: '1 of 2 endpoints: private-1.' }]);
  });

  test('reports a chain whose endpoint serves another chain as down, also in the service health', async () => {
    const health = await waitFor(77_777, ({ state }) => state === 'down');
    expect(health.endpoints[0]?.reasons[0]?.code).toBe('wrong_chain');
    const report = (await (await fetch(`${urls.apiUrl}/health`)).json()) as {
      reasons: { code: string; detail: string; blocking: boolean }[];
      probedChains: { down: number };
    };
    expect(report.probedChains.down).toBe(1);
    expect(report.reasons).toContainEqual(
      expect.objectContaining({ code: 'chains_down', blocking: false }),
    );
  });

  test('reports chains without configuration or endpoints as not probed, with a reason', async () => {
    for (const [ref, code] of [
      ['eth', 'not_configured'],
      [88_888, 'no_endpoints'],
    ] as const) {
      expect(await read(ref)).toMatchObject({ state: 'not_probed', reasons: [{ code }] });
    }
    expect((await fetch(`${urls.apiUrl}/v1/chains/nowhere/health`)).status).toBe(404);
  });

  test('matches the types of the client', async () => {
    const health = await createFullmatchClient({
      apiUrl: urls.apiUrl!,
      repositoryUrl: urls.repositoryUrl!,
    }).chainHealth(31_337);
    expect(health?.endpoints.map(({ label }) => label)).toEqual(['private-1', lasting.hostPort]);
  });

  test('is printed by chains probe, whose exit code says whether all are up', async () => {
    const { path: folder, remove } = await createTemporaryFolder();
    closers.push(remove);
    writeFileSync(path.join(folder, 'fullmatch.yaml'), yaml);
    const run = (...args: string[]) =>
      runInProcess(['chains', 'probe', ...args], { workingDirectory: folder });
    const one = await run('31337');
    expect(one.exitCode).toBe(75);
    expect(one.stderr).toContain('error[endpoints_unhealthy]');
    expect(one.stdout).toMatch(/31337 +private-1 +down .*connection_failed/);
    expect(one.stdout).toMatch(new RegExp(`31337 +${lasting.hostPort} +up +0 +0 `));
    const all = await run('--json');
    expect(all.exitCode).toBe(1);
    const reports = JSON.parse(all.stdout) as { chainId: number; state: string }[];
    expect(reports.map(({ chainId, state }) => [chainId, state])).toEqual([
      [31_337, 'degraded'],
      [77_777, 'down'],
      [88_888, 'not_probed'],
    ]);
    writeFileSync(
      path.join(folder, 'fullmatch.yaml'),
      `chains: { 31337: { local: true, rpc: ["${lasting.url}"] } }`,
    );
    expect(await run()).toMatchObject({ exitCode: 0 });
    writeFileSync(path.join(folder, 'fullmatch.yaml'), '{}');
    expect(await run()).toMatchObject({ exitCode: 0, stdout: 'no chain is configured\n' });
    for (const { stdout, stderr } of [one, all]) expect(stdout + stderr).not.toContain('hidden');
  });

  test('is exported as metrics by chain and label', async () => {
    await waitFor(31_337, ({ state }) => state === 'degraded');
    const lines = (await (await fetch(`${urls.metricsUrl}/metrics`)).text()).split('\n');
    const endpoint = (label: string): string => `chain="31337",endpoint="${label}"`;
    for (const line of [
      `fullmatch_endpoint_state{${endpoint('private-1')},state="down"} 1`,
      `fullmatch_endpoint_state{${endpoint('private-1')},state="up"} 0`,
      `fullmatch_endpoint_state{${endpoint(lasting.hostPort)},state="up"} 1`,
      `fullmatch_endpoint_head_block{${endpoint(lasting.hostPort)}} 0`,
      `fullmatch_endpoint_lag_blocks{${endpoint(lasting.hostPort)}} 0`,
    ]) {
      expect(lines).toContain(line);
    }
    const latency = `fullmatch_endpoint_latency_seconds{${endpoint(lasting.hostPort)},quantile="0.95"}`;
    expect(lines.some((line) => line.startsWith(latency))).toBe(true);
    expect(lines.join('\n')).not.toContain('hidden-key');
  });

  test('exposes no private URL in responses or the log', async () => {
    await expect.poll(() => logText()).toContain('"event":"endpoint_state"');
    expect(logText()).not.toContain('hidden-key');
    expect(JSON.stringify(await read(31_337))).not.toContain('hidden-key');
  });
});
