import { readFile } from 'node:fs/promises';

/** Linux counts CPU time in hundredths of a second (`sysconf(_SC_CLK_TCK)`). */
const TICK_MS = 10;

/** CPU time of a Linux process (utime + stime), in milliseconds. */
export async function processorTimeOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
