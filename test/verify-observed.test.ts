import { afterAll, beforeAll, expect, test } from 'vitest';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { prepareService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post } from './support/verification-client.ts';

const VERSION = '0.8.37';
const SOURCE =
  'contract Small { uint256 public x; constructor(uint256 y) { x = y; } function f() external { x += 3; } }';
const CHANGED = `${SOURCE}// changed`;
const OTHER = SOURCE.replace('x += 3', 'x += 4');

interface Health {
  readonly status: string;
  readonly reasons: readonly { readonly code: string }[];
  readonly queue: {
    readonly queued: number;
    readonly running: number;
    oldestQueuedSeconds?: number;
  };
  readonly compilers: { readonly warm: number; readonly warmBytes: number };
}

describeWith([ANVIL], 'jobs in health and metrics', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let creationCode: string;
  beforeAll(async () => {
    [testDatabase, anvil] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
    ]);
    const input = inputOf({ 'Small.sol': SOURCE });
    ({ creationCode } = await compileAsDeveloper(VERSION, input, 'Small.sol', 'Small'));
  });
  afterAll(async () => {
    await anvil.stop();
    await testDatabase.drop();
  });

  const start = async (workers: number) => {
    const { service } = prepareService({
      compilesAnew: true,
      databaseUrl: testDatabase.url,
      yaml: configOf(anvil, `verification: { workers: ${workers} }\n`),
      environment: { FULLMATCH_METRICS_ENABLED: 'true', FULLMATCH_METRICS_PORT: '0' },
    });
    const { apiUrl = '', metricsUrl = '' } = await service.start();
    return {
      apiUrl,
      close: () => service.close(),
      health: async () => (await (await fetch(`${apiUrl}/health`)).json()) as Health,
      metrics: async () =>
        new Map(
          (await (await fetch(`${metricsUrl}/metrics`)).text())
            .split('\n')
            .filter((line) => line.startsWith('fullmatch_'))
            .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
        ),
    };
  };
  const submit = async (apiUrl: string, source: string): Promise<string> => {
    const { address } = await deploy(anvil, creationCode, '7'.padStart(64, '0'));
    const response = await post(`${apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, {
      stdJsonInput: inputOf({ 'Small.sol': source }),
      compilerVersion: VERSION,
      contractIdentifier: 'Small.sol:Small',
    });
    return ((await response.json()) as { verificationId: string }).verificationId;
  };

  test('show waiting jobs, outcomes of ended ones, and the memory of warm compilers', async () => {
    const idle = await start(0);
    expect((await idle.health()).queue).toEqual({ queued: 0, running: 0 });
    const ids: string[] = [];
    for (const source of [SOURCE, CHANGED, OTHER, 'contract Small {']) {
      ids.push(await submit(idle.apiUrl, source));
    }
    await expect.poll(async () => (await idle.health()).queue.queued).toBe(4);
    await expect
      .poll(async () => (await idle.health()).queue.oldestQueuedSeconds)
      .toBeGreaterThanOrEqual(1);
    const waiting = await idle.metrics();
    expect(waiting.get('fullmatch_verification_jobs{state="queued"}')).toBe(4);
    expect(waiting.get('fullmatch_verification_oldest_queued_age_seconds')).toBeGreaterThanOrEqual(
      1,
    );
    expect(waiting.get('fullmatch_compilers{state="warm"}')).toBe(0);

    const busy = await start(1);
    for (const id of ids) await pollJob(busy.apiUrl, id);
    const ended = async (): Promise<readonly unknown[]> => {
      const all = await busy.metrics();
      return ['full', 'partial', 'no_match', 'compiler_error'].map((outcome) =>
        all.get(`fullmatch_verification_jobs_ended_total{outcome="${outcome}"}`),
      );
    };
    // A job is counted shortly after it is stored.
    await expect.poll(ended).toEqual([1, 1, 1, 1]);
    const metrics = await busy.metrics();
    const counted = (kind: string): number | undefined =>
      metrics.get(`fullmatch_verification_job_duration_seconds_count{kind="${kind}"}`);
    expect(['match', 'no_match', 'invalid_input'].map(counted)).toEqual([2, 1, 1]);
    expect(
      metrics.get('fullmatch_verification_job_duration_seconds_sum{kind="match"}'),
    ).toBeGreaterThan(0.01);
    expect(metrics.get('fullmatch_compilers{state="warm"}')).toBe(1);
    expect(metrics.get('fullmatch_warm_compilers_bytes')).toBeGreaterThan(20_000_000);
    // Jobs are counted by the process that ends them, and waiting ones by every process of the database.
    expect([...(await idle.metrics()).keys()].join()).not.toContain('jobs_ended_total{');
    await expect.poll(async () => (await idle.health()).queue).toEqual({ queued: 0, running: 0 });
    expect((await busy.health()).compilers).toMatchObject({ warm: 1 });
    await Promise.all([idle.close(), busy.close()]);
  });
});
