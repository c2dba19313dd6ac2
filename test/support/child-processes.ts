import { readdir, readFile } from 'node:fs/promises';

/** A process as /proc tells it. */
export interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  /** `Z` is a zombie: it ended, and nobody asked how. */
  readonly state: string;
  readonly command: string;
}

/** All processes of this machine. */
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
      // It ended meanwhile.
    }
  }
  return states;
}

/** The compilers that this process started and that have not ended, and its zombies. */
export async function listCompilers(): Promise<readonly ProcessState[]> {
  return (await listProcesses()).filter(
    ({ parent, state, command }) =>
      parent === process.pid && (state === 'Z' || /soljson-child|solc-linux/.test(command)),
  );
}
