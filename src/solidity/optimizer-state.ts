import { isMembers, type Members } from '../lib/members.ts';

/** Steps that are on without the optimizer too. */
const ALWAYS_ON: ReadonlySet<string> = new Set([
  'peephole',
  'jumpdestRemover',
  'simpleCounterForLoopUncheckedIncrement',
]);

/** Whether settings turn the optimizer of Solidity on. Metadata with details leaves `enabled` out: then they say it. */
export function isOptimized({ optimizer }: Members): boolean {
  if (!isMembers(optimizer)) return false;
  const { enabled, details } = optimizer;
  if (typeof enabled === 'boolean') return enabled;
  return (
    isMembers(details) &&
    Object.entries(details).some(([step, value]) => value === true && !ALWAYS_ON.has(step))
  );
}
