import { setTimeout as wait } from 'node:timers/promises';
import { processorTimeOf } from '../test/support/processor-time.ts';

const PERIOD_MS = 1_000;
const IDLE_SHARE = 0.03;
const LONGEST_MS = 60_000;

/**
 * Waits until a process uses at most 3% of a core. After its start a service compresses the chain list for
 * seconds in the background, which would count as the cost of the first requests.
 */
export async function waitUntilIdle(pid: number): Promise<void> {
  const latest = performance.now() + LONGEST_MS;
  let before = await processorTimeOf(pid);
  while (performance.now() < latest) {
    await wait(PERIOD_MS);
    const now = await processorTimeOf(pid);
    if (now - before <= PERIOD_MS * IDLE_SHARE) return;
    before = now;
  }
  throw new Error('the service did not become idle');
}
