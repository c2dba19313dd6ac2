import { setPriority } from 'node:os';

const NICE = 5;

/**
 * Has the thread that calls it go behind the thread that serves where both want the processor. Only on Linux, where a
 * thread has a priority of its own (setpriority(2), PRIO_PROCESS with 0).
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICE);
  } catch {
    // A system that forbids it has the priorities that it wants.
  }
}
