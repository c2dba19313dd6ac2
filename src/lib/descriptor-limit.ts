import { readFileSync } from 'node:fs';

/** Fallback if the system does not report a limit: the default of macOS. */
const ASSUMED = 10_240;

/**
 * Returns the limit on open file descriptors of this process: its soft limit, which Node raises to the hard
 * limit on start.
 */
export function descriptorLimit(): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readLimits())?.[1];
  if (soft === undefined) return ASSUMED;
  return soft === 'unlimited' ? Infinity : Number(soft);
}

/** Linux reports the limits in a file; other systems have no such file. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return '';
  }
}
