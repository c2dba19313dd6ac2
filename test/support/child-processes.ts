import { readdir, readFile } from 'node:fs/promises';

/** A process as listed in /proc. */
export interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  /** `Z` is a zombie: it exited and has not been reaped. */
  readonly state: string;
  readonly command: string;
}

/** Lists all processes of this machine. */
export async function listProcesses(): Promise<readonly ProcessState[]> {
  const states: ProcessState[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = await readFile(`/proc/${name}/stat`, 'latin1');
      const command = (await readFile(`/proc/${name}/cmdline`, 'latin1')).replaceAll('\0', ' ');
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      states.push({ pid: Number(name), parent: Number(parent), state, command });
    } catch {
      // It exited in the meantime.
    }
  }
  return states;
}

/** The compilers started by this process that are still running, and its zombies. */
export async function listCompilers(): Promise<readonly ProcessState[]> {
  return (await listProcesses()).filter(
    ({ parent, state, command }) =>
      parent === process.pid && (state === 'Z' || /soljson-child|solc-linux/.test(command)),
  );
}
