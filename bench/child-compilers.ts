/** Compiler child processes of a running service, and their memory (Linux). */
import { readdir, readFile } from 'node:fs/promises';

/** The process ids of the loaded compilers below a process. */
export async function findCompilers(parent: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '');
    const command = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '');
    const [, parentId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(parentId) === parent && command.includes('soljson-child')) found.push(Number(name));
  }
  return found;
}

/** The resident memory of a process, in bytes. */
export async function readResident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
