import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Requires that this process can write to a folder or create it. Checks permissions without writing.
 * @throws Error of the system: `EACCES`, `EROFS`, `ENOTDIR` if it or a folder of its path is a file
 */
export async function requireWritable(folder: string): Promise<void> {
  const existing = await nearestExisting(folder);
  // With a trailing slash, a file fails with ENOTDIR.
  await access(path.join(existing, path.sep), constants.W_OK | constants.X_OK);
}

/**
 * Returns the folder, or its nearest existing ancestor.
 * @throws Error of the system
 */
export async function nearestExisting(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    const above = path.dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error;
    return nearestExisting(above);
  }
}

/**
 * Creates a folder and its missing ancestors. In Node 20, `mkdir` with `recursive` never returns if a file
 * system rejects a name with ENOENT, as /proc does.
 * @throws Error of the system
 */
export async function makeFolder(folder: string): Promise<void> {
  const existing = await nearestExisting(folder);
  const missing = path.relative(existing, folder).split(path.sep);
  for (let at = 1; at <= missing.length; at += 1) {
    const each = path.join(existing, ...missing.slice(0, at));
    await mkdir(each).catch(async (error: unknown) => {
      // EEXIST is fine if it is a folder, for example one that another process created; a file is an error.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST' || !(await stat(each)).isDirectory()) throw error;
    });
  }
}
