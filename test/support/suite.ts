import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The suite in which a file runs: `npm test` is the fast one, `npm run test:slow` the slow one. */
    suite: 'fast' | 'slow';
  }
}

/**
 * Whether this is the slow suite. A test file that imports this module runs in both suites: with few rounds
 * and versions in the fast one, and with all of them in the slow one.
 */
export const IS_SLOW_SUITE = inject('suite') === 'slow';

/** One compiler of each generation: the oldest with standard JSON, the last without immutables, the newest. */
const FEW_VERSIONS = ['0.4.11', '0.6.12', '0.8.37'];

/**
 * The compilers of a matrix: few in the fast suite, all others in the slow one.
 * @param few releases or long versions; by default one of each generation
 */
export function versionsOfSuite<V extends string>(
  all: readonly V[],
  few: readonly string[] = FEW_VERSIONS,
): readonly V[] {
  return all.filter((version) => {
    const isOfFew = few.some((each) => version === each || version.startsWith(`${each}+`));
    return isOfFew !== IS_SLOW_SUITE;
  });
}

/** Number of cases in a property test with a database: a quarter in the fast suite, all in the slow one. */
export function runsOfSuite(all: number): number {
  return IS_SLOW_SUITE ? all : Math.ceil(all / 4);
}
