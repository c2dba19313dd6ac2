import { setPriority } from 'node:os';

const NICE = 5;

/**
 * Lowers the priority of the calling thread below the main thread. Only on Linux, where each thread has its
 * own priority (setpriority(2), PRIO_PROCESS with 0).
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICE);
  } catch {
    // If the system does not permit it, the priority stays unchanged.
  }
}
