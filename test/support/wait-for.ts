import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 10;

/**
 * Waits until a condition holds. It depends on another process, so there is no event to wait for; the test's
 * timeout applies.
 */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(PAUSE_MS);
}
