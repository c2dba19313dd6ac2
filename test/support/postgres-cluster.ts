import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFile, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Client } from 'pg';
import { Secret } from '../../src/lib/secret.ts';
import { silentLogger } from '../../src/log.ts';
import { connectClient, targetOfUrl } from '../../src/store/connection-target.ts';
import {
  type DataDirectory,
  locateDataDirectory,
} from '../../src/store/embedded/data-directory.ts';
import { initialiseData } from '../../src/store/embedded/initialise-data.ts';
import { findBinaries, type PostgresBinaries } from '../../src/store/embedded/postgres-binaries.ts';
import { CHILD_ENVIRONMENT, spawnAs } from '../../src/store/embedded/run-command.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

const DATABASE = 'fullmatch';
const STANDBY = 'standby';
/** Protection against a machine crash is unnecessary: tests only kill processes. */
const SETTINGS = {
  listen_addresses: '',
  fsync: 'off',
  shared_buffers: '32MB',
  max_connections: '100',
  wal_keep_size: '512MB',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '100ms',
  hot_standby_feedback: 'on',
  timezone: 'UTC',
};

/** A test's PostgreSQL, which is not restarted when killed. */
export interface ClusterServer {
  /** The URL of this server alone. */
  readonly url: string;
  start(): Promise<void>;
  /** Sends SIGKILL to the server and all its processes. */
  kill(): Promise<void>;
  query<Row extends object>(text: string): Promise<Row[]>;
}

/** A primary and a standby that streams from it. */
export interface PostgresCluster {
  readonly primary: ClusterServer;
  readonly standby: ClusterServer;
  /** URL that names both servers and selects the writable one. */
  readonly url: string;
  /** Waits until the standby has caught up with the primary's current position. */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates a primary and a standby.
 * @param isSynchronous whether a commit waits for the standby
 */
export async function startCluster(isSynchronous: boolean): Promise<PostgresCluster> {
  const folder = await createTemporaryFolder('fullmatch-cluster-');
  const dataDir = path.join(folder.path, 'a');
  await mkdir(dataDir);
  const data = await locateDataDirectory(dataDir, silentLogger);
  const { account } = data;
  const request = { copyFolder: folder.path, ...(account && { account }) };
  const binaries = await findBinaries(request, silentLogger);
  await initialiseData(data, binaries);
  const primary = await createServer(folder.path, data, binaries);
  await primary.start();
  await primary.query(`CREATE DATABASE ${DATABASE} TEMPLATE template0`, 'postgres');
  const copy = { ...data, path: path.join(folder.path, 'b') };
  const standby = await createServer(folder.path, copy, binaries);
  await copyData(primary, data, copy);
  await standby.start();
  if (isSynchronous) {
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
    await primary.query('SELECT pg_reload_conf()');
  }
  const hosts = [primary, standby].map(({ socketFolder }) => socketFolder).join(',');
  return {
    ...{ primary, standby },
    url: `postgres://fullmatch@/${DATABASE}?host=${encodeURIComponent(hosts)}`,
    catchUp: async () => {
      const [row] = await primary.query<{ lsn: string }>(
        'SELECT pg_current_wal_insert_lsn()::text AS lsn',
      );
      for (;;) {
        const [at] = await standby.query<{ done: boolean }>(
          `SELECT pg_last_wal_replay_lsn() >= '${row?.lsn ?? ''}'::pg_lsn AS done`,
        );
        if (at?.done === true) return;
        await wait(20);
      }
    },
    close: async () => {
      await Promise.all([primary.kill(), standby.kill()]);
      await folder.remove();
    },
  };
}

async function createServer(folder: string, data: DataDirectory, { postgres }: PostgresBinaries) {
  const socketFolder = path.join(folder, `socket-${path.basename(data.path)}`);
  await mkdir(socketFolder);
  if (data.account !== undefined) await chown(socketFolder, data.account.uid, data.account.gid);
  const settings = { ...SETTINGS, unix_socket_directories: socketFolder };
  let child: ChildProcess | undefined;
  const urlOf = (database: string): string =>
    `postgres://fullmatch@/${database}?host=${encodeURIComponent(socketFolder)}`;
  const onClient = async <T>(
    database: string,
    work: (client: Client) => Promise<T>,
  ): Promise<T> => {
    const client = await connectClient(targetOfUrl(new Secret(urlOf(database)), 'test cluster'));
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  return {
    socketFolder,
    url: urlOf(DATABASE),
    start: async (): Promise<void> => {
      const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      await rm(path.join(data.path, 'postmaster.pid'), { force: true });
      for (;;) {
        let output = '';
        const started = spawn(postgres, ['-D', data.path, ...given], {
          cwd: '/',
          env: CHILD_ENVIRONMENT,
          stdio: ['ignore', 'ignore', 'pipe'],
          ...spawnAs(data.account),
        });
        started.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
        child = started;
        while (started.exitCode === null) {
          const isUp = await onClient('postgres', (client) => client.query('SELECT 1')).then(
            () => true,
            () => false,
          );
          if (isUp) return;
          await wait(50);
        }
        // Children of a killed server hold its shared memory until they notice.
        if (!/shared memory block|lock file/.test(output)) throw new Error(output);
        await wait(100);
      }
    },
    kill: async (): Promise<void> => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child?.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
    query: async <Row extends object>(text: string, database = DATABASE): Promise<Row[]> =>
      onClient(database, async (client) => (await client.query<Row>(text)).rows),
    onClient,
  };
}

/** A manual base backup: pg_basebackup is not included in the binaries. */
async function copyData(
  primary: Awaited<ReturnType<typeof createServer>>,
  from: DataDirectory,
  to: DataDirectory,
): Promise<void> {
  await primary.onClient('postgres', async (client) => {
    await client.query(`SELECT pg_backup_start('test', true)`);
    await promisify(execFile)('cp', ['-a', from.path, to.path]);
    const { rows } = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop()',
    );
    await rm(path.join(to.path, 'postmaster.pid'), { force: true });
    for (const name of await readdir(path.join(to.path, 'pg_wal')))
      if (/^[0-9A-F]{24}$/.test(name)) await rm(path.join(to.path, 'pg_wal', name));
    const conninfo = `host=${primary.socketFolder} port=5432 user=fullmatch application_name=${STANDBY}`;
    await writeFile(path.join(to.path, 'backup_label'), rows[0]?.labelfile ?? '');
    await writeFile(path.join(to.path, 'standby.signal'), '');
    await appendFile(
      path.join(to.path, 'postgresql.auto.conf'),
      `primary_conninfo = '${conninfo}'\n`,
    );
    if (to.account === undefined) return;
    for (const name of ['backup_label', 'standby.signal'])
      await chown(path.join(to.path, name), to.account.uid, to.account.gid);
  });
}
