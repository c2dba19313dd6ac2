import { readFile } from 'node:fs/promises';

/** The processes that a process has started to accept connections. Linux only. */
export async function acceptorProcesses(parent = process.pid): Promise<readonly number[]> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'latin1');
  const ids = children.split(' ').filter(Boolean).map(Number);
  // One that has ended meanwhile has no file.
  const lines = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/cmdline`, 'latin1').catch(() => '')),
  );
  return ids.filter((_, index) => lines[index]?.includes('acceptor-process'));
}
