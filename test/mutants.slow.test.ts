import { expect, test } from 'vitest';
import { runMutants } from './support/mutants/mutant-run.ts';

const SEED = 7;
const MUTANTS = 3_000;

test(`none of ${MUTANTS} byte mutants of compiled contracts gets a match that it should not have (seed ${SEED})`, async () => {
  const { falseMatches, levels, missed } = await runMutants({
    versions: ['0.4.26', '0.8.37'],
    mutants: MUTANTS,
    seed: SEED,
  });
  expect(falseMatches).toEqual([]);
  // The oracle does not reject everything: mutants that differ only where permitted still match, in the
  // service and in the oracle.
  expect(levels['full']).toBeGreaterThan(MUTANTS / 100);
  expect(levels['partial']).toBeGreaterThan(MUTANTS / 100);
  expect(missed).toBe(0);
}, 300_000);
