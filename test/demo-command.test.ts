import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DEMONSTRATION_CHAIN_ID } from '../src/chains/registry/default-service-chains.ts';
import { type createCompilers } from '../src/compilers/compilers.ts';
import { startAnvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { recordedCompilers } from './support/recorded-compilers.ts';
import { runInProcess, type CliRun } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { startWebServer } from './support/web-server.ts';

// The command opens its own compilers. Like those of a booted service, they compile each contract once.
vi.mock('../src/compilers/compilers.ts', async (importActual) => {
  const actual = await importActual<{ createCompilers: typeof createCompilers }>();
  const open: typeof createCompilers = async (...parameters) =>
    recordedCompilers(await actual.createCompilers(...parameters));
  return { ...actual, createCompilers: open };
});

interface Demonstration {
  readonly chainId: number;
  readonly stored: number;
  readonly unchanged: number;
  readonly withdrawn: number;
  readonly contracts: readonly {
    readonly name: string;
    readonly kind: string;
    readonly address: string;
    readonly runtimeMatch: string | null;
    readonly creationMatch: string | null;
    readonly outcome: string;
  }[];
}

interface Counts {
  readonly full_match: number;
  readonly partial_match: number;
}

let testDatabase: TestDatabase;
let service: BootedService;
let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  folder = await createTemporaryFolder();
  service = await bootService({ databaseUrl: testDatabase.url });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
  await folder.remove();
});

const runDemo = (...more: string[]): Promise<CliRun> =>
  runInProcess(['demo', '--json', ...more], {
    workingDirectory: folder.path,
    environment: { DATABASE_URL: testDatabase.url, FULLMATCH_DATA_DIR: folder.path, PATH: '' },
  });

const readJson = async <T>(url: string): Promise<T> => (await (await fetch(url)).json()) as T;
const codeOf = ({ stdout }: CliRun): string => (JSON.parse(stdout) as { code: string }).code;

/** Counts are published once the commit was noticed. */
async function countsAfter(full: number, partial: number): Promise<Counts | undefined> {
  const read = async (): Promise<Counts | undefined> =>
    (await readJson<Record<string, Counts>>(`${service.repositoryUrl}/stats.json`))[
      DEMONSTRATION_CHAIN_ID
    ];
  await expect.poll(read).toEqual({ full_match: full, partial_match: partial });
  return read();
}

describeWith([ANVIL], 'fullmatch demo', () => {
  test(
    'verifies its contracts for the running service, and a second run changes nothing',
    { timeout: 240_000 },
    async () => {
      const first = await runDemo();
      // A run of more than ten seconds shows its progress.
      expect(first.stderr).toMatch(/^(?:\d+ of 50 {2}.+\n)*$/);
      expect(first.exitCode).toBe(0);
      const shown = JSON.parse(first.stdout) as Demonstration;
      expect(shown.contracts.length).toBeGreaterThanOrEqual(45);
      expect(shown).toMatchObject({
        chainId: DEMONSTRATION_CHAIN_ID,
        stored: shown.contracts.length - 1,
        unchanged: 0,
        withdrawn: 1,
      });
      expect(shown.contracts.filter(({ runtimeMatch }) => runtimeMatch === null)).toEqual([]);
      expect(new Set(shown.contracts.map(({ kind }) => kind))).toEqual(
        new Set(['token', 'contract', 'library', 'linked', 'factory', 'child', 'proxy']),
      );
      const current = shown.contracts.filter(({ outcome }) => outcome !== 'withdrawn');
      const full = current.filter(
        (each) => each.runtimeMatch === 'full' || each.creationMatch === 'full',
      ).length;
      expect(full).toBeGreaterThan(30);
      expect(current.length - full).toBeGreaterThan(5);
      await countsAfter(full, current.length - full);

      const chains = await readJson<{ chainId: number; name: string; supported: boolean }[]>(
        `${service.apiUrl}/chains`,
      );
      const chain = chains.find(({ chainId }) => chainId === DEMONSTRATION_CHAIN_ID);
      expect(chain).toMatchObject({ supported: false });
      expect(chain?.name).toMatch(/demonstration/i);

      const second = JSON.parse((await runDemo()).stdout) as Demonstration;
      const changed = second.contracts.filter(({ outcome }) => outcome !== 'unchanged');
      expect(changed).toEqual([]);
      expect(second.unchanged).toBe(current.length);
      await countsAfter(full, current.length - full);
    },
  );

  test('asks to be retried while the named node does not respond', async () => {
    const gone = await startWebServer(() => undefined);
    await gone.close();
    const run = await runDemo('--rpc', gone.url);
    expect(codeOf(run)).toBe('connection_failed');
    expect(run.exitCode).toBe(75);
  });

  test('deploys nothing to a node of another chain', async () => {
    const anvil = await startAnvil();
    try {
      const run = await runDemo('--rpc', anvil.url);
      expect(codeOf(run)).toBe('no_demo_node');
      expect(await anvil.request('eth_blockNumber')).toBe('0x0');
    } finally {
      await anvil.stop();
    }
  });
});
