import { expect, test } from 'vitest';
import { runMutants } from './support/mutants/mutant-run.ts';

const SEED = 7;
const MUTANTS = 3_000;

test(`of ${MUTANTS} byte mutants of compiled contracts none is given a match that it has not (seed ${SEED})`, async () => {
  const { falseMatches, levels, missed } = await runMutants({
    versions: ['0.4.26', '0.8.37'],
    mutants: MUTANTS,
    seed: SEED,
  });
  expect(falseMatches).toEqual([]);
  // The oracle is not a mere refusal: what differs only where it may still matches, there and here.
  expect(levels['full']).toBeGreaterThan(MUTANTS / 100);
  expect(levels['partial']).toBeGreaterThan(MUTANTS / 100);
  expect(missed).toBe(0);
}, 300_000);
