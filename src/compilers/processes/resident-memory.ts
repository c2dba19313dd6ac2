import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

const BYTES_PER_KIB = 1024;
const RESIDENT_IN_STATUS = /^VmRSS:\s+(\d+) kB$/m;

/** `ps` tells what /proc does where there is none (macOS). */
function readFromPs(pid: number): Promise<number> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'rss=', '-p', String(pid)], { timeout: 1000 }, (error, stdout) => {
      resolve(error === null ? Number(stdout.trim()) * BYTES_PER_KIB : 0);
    });
  });
}

/**
 * The memory that a process holds, in bytes; 0 when there is no such process. On Linux from /proc/<pid>/status, which,
 * unlike statm, counts in KiB and not in pages of a size that Node does not know.
 */
export async function readResidentBytes(pid: number): Promise<number> {
  if (process.platform !== 'linux') return readFromPs(pid);
  try {
    const status = await readFile(`/proc/${pid}/status`, 'latin1');
    return Number(RESIDENT_IN_STATUS.exec(status)?.[1] ?? 0) * BYTES_PER_KIB;
  } catch {
    return 0;
  }
}
