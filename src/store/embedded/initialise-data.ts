import { chown, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type DataDirectory, draftName, removeLeftOvers } from './data-directory.ts';
import { type PostgresBinaries } from './postgres-binaries.ts';
import { runCommand } from './run-command.ts';
import { folderFailure, programFailure, systemCode } from './store-failure.ts';

/** Superuser of the embedded server; its socket is private, so it has no password. */
export const EMBEDDED_USER = 'fullmatch';

/**
 * Creates the data directory with initdb in a draft next to it, and renames the draft when it is complete. A
 * process killed in between leaves nothing half-done, and of two concurrent processes the second uses the
 * first one's directory.
 * @throws FullmatchError `data_directory_unusable`, `data_directory_full`, `embedded_server_unavailable`
 */
export async function initialiseData(
  data: DataDirectory,
  binaries: PostgresBinaries,
): Promise<void> {
  const draft = draftName(data.path);
  try {
    await removeLeftOvers(data.path);
    await mkdir(draft, { mode: 0o700 });
    if (data.account !== undefined) await chown(draft, data.account.uid, data.account.gid);
    await runInitdb(data, draft, binaries);
    await publish(draft, data.path);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw folderFailure(error, data.path);
  }
}

async function runInitdb(
  data: DataDirectory,
  draft: string,
  binaries: PostgresBinaries,
): Promise<void> {
  const result = await runCommand(
    binaries.initdb,
    [
      ...['-D', draft, '-U', EMBEDDED_USER, '--encoding=UTF8', '--locale=C', '--data-checksums'],
      // Only the private socket is open. If an operator opens a port, it still accepts no one.
      ...['--auth-local=trust', '--auth-host=reject', '--no-instructions'],
    ],
    data.account,
  );
  if (result.exitCode !== 0) {
    const output = result.spawnError ?? `${result.stdout}\n${result.stderr}`;
    throw programFailure('initdb', data.path, output);
  }
}

async function publish(draft: string, target: string): Promise<void> {
  try {
    await rename(draft, target);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    await rm(draft, { recursive: true, force: true });
  }
  // initdb synced the contents of the folder; its new name is durable only after its parent is synced.
  const parent = await open(path.dirname(target), 'r');
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}
