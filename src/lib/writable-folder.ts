import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Whether this process may write into a folder, or make it: looked up, not tried.
 * @throws Error of the system: `EACCES`, `EROFS`, `ENOTDIR` where it, or a folder of its path, is a file
 */
export async function requireWritable(folder: string): Promise<void> {
  const existing = await nearestExisting(folder);
  // Asked for by the slash: a file is ENOTDIR.
  await access(path.join(existing, path.sep), constants.W_OK | constants.X_OK);
}

/** The folder, or the nearest one above it that is there. @throws Error of the system */
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
 * Makes a folder, and those above it that are missing. `mkdir` of Node 20 with `recursive` never returns where a file system
 * refuses a name with ENOENT, as /proc does.
 * @throws Error of the system
 */
export async function makeFolder(folder: string): Promise<void> {
  const existing = await nearestExisting(folder);
  const missing = path.relative(existing, folder).split(path.sep);
  for (let at = 1; at <= missing.length; at += 1) {
    const each = path.join(existing, ...missing.slice(0, at));
    await mkdir(each).catch(async (error: unknown) => {
      // Another process made it, or it is the one that was there; a file in its place is a fault.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST' || !(await stat(each)).isDirectory()) throw error;
    });
  }
}
