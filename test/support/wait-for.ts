import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 10;

/**
 * Waits until a condition holds. What it looks at is somebody else's work, so there is nothing to listen to; the limit is
 * that of the test.
 */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(PAUSE_MS);
}
