import { isMembers, type Members } from '../lib/members.ts';

/** Steps that run even without the optimizer. */
const ALWAYS_ON: ReadonlySet<string> = new Set([
  'peephole',
  'jumpdestRemover',
  'simpleCounterForLoopUncheckedIncrement',
]);

/**
 * Returns whether settings enable the Solidity optimizer. Metadata with details omits `enabled`, so the
 * details decide.
 */
export function isOptimized({ optimizer }: Members): boolean {
  if (!isMembers(optimizer)) return false;
  const { enabled, details } = optimizer;
  if (typeof enabled === 'boolean') return enabled;
  return (
    isMembers(details) &&
    Object.entries(details).some(([step, value]) => value === true && !ALWAYS_ON.has(step))
  );
}
