import { expect, test } from 'vitest';
import { isOptimized } from './optimizer-state.ts';

const MINIMAL = { peephole: true, jumpdestRemover: true, inliner: false, cse: false, yul: false };

test.each([
  [{}, false],
  [{ optimizer: { runs: 200 } }, false],
  [{ optimizer: { enabled: true, details: MINIMAL } }, true],
  [{ optimizer: { enabled: false, runs: 200 } }, false],
  [{ optimizer: { runs: 1, details: { ...MINIMAL, cse: true } } }, true],
  [
    {
      optimizer: {
        runs: 1,
        details: { ...MINIMAL, yul: true, yulDetails: { optimizerSteps: 'u' } },
      },
    },
    true,
  ],
  [{ optimizer: { runs: 1, details: MINIMAL } }, false],
])('%j enables the optimizer: %s', (settings, isOn) => {
  expect(isOptimized(settings)).toBe(isOn);
});
