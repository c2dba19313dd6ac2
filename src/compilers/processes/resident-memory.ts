import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

const BYTES_PER_KIB = 1024;
const RESIDENT_IN_STATUS = /^VmRSS:\s+(\d+) kB$/m;

/** Fallback on systems without /proc (macOS). */
function readFromPs(pid: number): Promise<number> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'rss=', '-p', String(pid)], { timeout: 1000 }, (error, stdout) => {
      resolve(error === null ? Number(stdout.trim()) * BYTES_PER_KIB : 0);
    });
  });
}

/**
 * Returns the resident memory of a process in bytes; 0 if there is no such process. On Linux it reads
 * /proc/<pid>/status, which uses KiB; statm uses pages, whose size Node does not know.
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
