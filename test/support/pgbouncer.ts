import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Secret } from '../../src/lib/secret.ts';
import { connectClient, targetOfUrl } from '../../src/store/connection-target.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/** Why a test that needs PgBouncer is skipped. */
export const NO_PGBOUNCER = 'PgBouncer is not installed here';

const PLACES = ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/usr/local/sbin'];
const PORT = 6432;
/** Fewer connections than clients, so that each transaction may get a different one. */
const SERVER_CONNECTIONS = 3;

/** A PgBouncer in transaction mode. */
export interface PgBouncer {
  /** Returns its URL of a database. */
  urlOf(database: string): string;
  stop(): Promise<void>;
}

/** The program, if installed. */
export function findPgBouncer(): string | undefined {
  return PLACES.map((place) => path.join(place, 'pgbouncer')).find((file) => existsSync(file));
}

/**
 * Starts PgBouncer in front of the server of a socket folder, as the folder's user.
 * @param settings lines of its configuration besides those that a test needs
 */
export async function startPgBouncer(
  socketFolder: string,
  settings: readonly string[] = [],
): Promise<PgBouncer> {
  const program = findPgBouncer();
  if (program === undefined) throw new Error(NO_PGBOUNCER);
  const folder = await createTemporaryFolder('fullmatch-pgb-');
  const { uid, gid } = await stat(socketFolder);
  const file = path.join(folder.path, 'pgbouncer.ini');
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=${socketFolder} port=5432 user=fullmatch`,
      '[pgbouncer]',
      'pool_mode = transaction',
      'auth_type = any',
      'listen_addr =',
      `listen_port = ${PORT}`,
      `unix_socket_dir = ${folder.path}`,
      'max_client_conn = 200',
      `default_pool_size = ${SERVER_CONNECTIONS}`,
      ...settings,
      '',
    ].join('\n'),
  );
  for (const each of [folder.path, file]) await chown(each, uid, gid);
  const child = spawn(program, [file], { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], uid, gid });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const urlOf = (database: string): string =>
    `postgres://fullmatch@/${database}?host=${encodeURIComponent(folder.path)}&port=${PORT}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await folder.remove();
  };
  for (;;) {
    try {
      const client = await connectClient(targetOfUrl(new Secret(urlOf('postgres')), 'test'));
      await client.end();
      return { urlOf, stop };
    } catch (error) {
      if (child.exitCode !== null) {
        await stop();
        throw new Error(`PgBouncer ended: ${output}`, { cause: error });
      }
      await wait(20);
    }
  }
}
