import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type AllianceDatabase, createAllianceDatabase } from './alliance-database.ts';
import { runInProcess, type CliRun } from './run-cli.ts';
import { createTemporaryFolder } from './temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** Source and target of a test's imports: new databases for each test, one folder per file. */
interface AllianceImport {
  readonly folder: string;
  readonly store: TestDatabase;
  readonly peer: AllianceDatabase;
  /** Runs a command in the folder on the database. */
  readonly fullmatch: (...args: readonly string[]) => Promise<CliRun>;
}

/** Sets up the databases and the folder of a test file. */
export function useAllianceImport(): AllianceImport {
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let store: TestDatabase;
  let peer: AllianceDatabase;
  beforeAll(async () => {
    folder = await createTemporaryFolder();
  });
  afterAll(() => folder.remove());
  beforeEach(async () => {
    [store, peer] = await Promise.all([createTestDatabase(), createAllianceDatabase()]);
  });
  afterEach(() => Promise.all([store.drop(), peer.drop()]));
  return {
    get folder() {
      return folder.path;
    },
    get store() {
      return store;
    },
    get peer() {
      return peer;
    },
    fullmatch: (...args) =>
      runInProcess(args, {
        environment: { DATABASE_URL: store.url, FULLMATCH_REGISTRY_INCLUDE: 'configured' },
        workingDirectory: folder.path,
      }),
  };
}
