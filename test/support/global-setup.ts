import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type TestProject } from 'vitest/node';
import { silentLogger } from '../../src/log.ts';
import { connectClient } from '../../src/store/connection-target.ts';
import {
  type EmbeddedServer,
  openEmbeddedServer,
} from '../../src/store/embedded/embedded-server.ts';
import { openStore } from '../../src/store/open-store.ts';
import { writeCarelessPrograms } from './careless-postgres.ts';
import { type PristineState, readPristineState } from './empty-database.ts';
import { unpackCompilations } from './recorded-compilations.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the test server, without a database: see test-database.ts. */
    testServer: TestServerAddress;
  }
}

/** Server on which test databases are created. */
export interface TestServerAddress {
  /** The folder of the server's socket. */
  readonly socketFolder: string;
  /** A migrated database to clone. */
  readonly template: string;
  /** A data directory with an empty migrated database that no process uses: see used-data.ts. */
  readonly usedData: string;
  /** State of that database. */
  readonly pristine: PristineState;
}

const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The database that a service creates in its data directory. */
const TEMPLATE = 'fullmatch';
/** Number of new compilations that may await the next recording. */
const UNRECORDED_AT_MOST = 20;

/** The URL of a database on the test server, for DATABASE_URL. */
export function testDatabaseUrl(socketFolder: string, database: string): string {
  return `postgres://fullmatch@/${database}?host=${encodeURIComponent(socketFolder)}`;
}

/**
 * Starts one embedded server for all test files, with a migrated template database; `stop` removes it with
 * its data.
 */
export async function startTestServer(): Promise<{
  address: TestServerAddress;
  stop: () => Promise<void>;
}> {
  const folder = await createTemporaryFolder();
  const usedData = path.join(folder.path, 'used');
  const dataDir = path.join(folder.path, 'data');
  let server: EmbeddedServer | undefined;
  const stop = async (): Promise<void> => {
    await server?.close();
    await folder.remove();
  };
  try {
    const binaries = await writeCarelessPrograms(folder.path);
    const store = await openStore({ poolSize: 1, dataDir: usedData, binaries }, silentLogger);
    await store.close();
    await promisify(execFile)('cp', ['-a', usedData, dataDir]);
    server = await openEmbeddedServer(
      { dataDir, binaries, applicationName: 'fullmatch test' },
      silentLogger,
    );
    const migrated = await connectClient(server.target(TEMPLATE));
    const pristine = await readPristineState(migrated);
    await migrated.end();
    // A template can only be cloned while it has no connections.
    const client = await connectClient(server.target('postgres'));
    await client.query(`ALTER DATABASE ${TEMPLATE} WITH ALLOW_CONNECTIONS false`);
    await client.end();
    const { socketFolder } = server;
    return { address: { socketFolder, template: TEMPLATE, usedData, pristine }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Builds dist/ if outdated, since tests that spawn the program run the build. */
async function buildProgram(): Promise<void> {
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: PROJECT_ROOT });
}

/** Vitest runs this once before all test files, and the returned function after them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // In parallel: they are independent, and each uses half of the machine.
  const [server, built, unpacked] = await Promise.allSettled([
    startTestServer(),
    buildProgram(),
    unpackCompilations(),
  ]);
  if (server.status === 'rejected') throw server.reason;
  const { address, stop } = server.value;
  if (built.status === 'rejected' || unpacked.status === 'rejected') {
    await stop();
    throw built.status === 'rejected' ? built.reason : (unpacked as PromiseRejectedResult).reason;
  }
  project.provide('testServer', address);
  return async () => {
    await stop();
    const unrecorded = await unpacked.value();
    if (unrecorded > UNRECORDED_AT_MOST) {
      process.stderr.write(
        `${unrecorded} compilations are not recorded, which costs a fresh clone minutes: see scripts/record-compilations.ts\n`,
      );
    }
  };
}
