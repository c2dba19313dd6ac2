import { readFileSync } from 'node:fs';

/** Assumed where the system does not say: as many as macOS gives a process. */
const ASSUMED = 10_240;

/** How many descriptors this process may have open: its soft limit, which Node raises to the hard limit as it starts. */
export function descriptorLimit(): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readLimits())?.[1];
  if (soft === undefined) return ASSUMED;
  return soft === 'unlimited' ? Infinity : Number(soft);
}

/** Linux says it in a file; elsewhere there is none. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return '';
  }
}
