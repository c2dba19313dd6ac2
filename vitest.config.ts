import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/slowest-first.ts';

const UNITS = ['src/**/*.test.ts', 'test/web/*.test.ts', 'client/test/**/*.test.ts'];
/** What looks at the processes, the memory or the console of the process that it runs in, or replaces a module. */
const ALONE = [
  'src/lib/left-buffers.test.ts',
  'test/bytecode-oracle.test.ts',
  'test/compilers-limits.test.ts',
  'test/compilers-soljson.test.ts',
  'test/demo-command.test.ts',
  'test/verify-bombs.test.ts',
];
const LIMITS = {
  // A machine that others use may stand still for half a minute: a limit ends a test that hangs, and judges none.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  pool: 'forks',
  // What a test waits for comes at once on a free machine, and late on a busy one.
  expect: { poll: { interval: 20, timeout: 90_000 } },
} as const;

/** These count seconds while compilers work, so no more of them run at once than there are cores. */
const FIRST = { maxWorkers: 2, sequence: { groupOrder: 0 } } as const;
/** These wait for processes, frames and timers a third of their time: three at once keep two cores busy. */
const THEN = { maxWorkers: 3, sequence: { groupOrder: 1 } } as const;

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: SlowestFirst },
    projects: [
      { test: { name: 'alone', include: ALONE, ...LIMITS, ...FIRST } },
      // Loading what a file imports takes seconds of a processor, so a process keeps it for the next file.
      {
        test: {
          name: 'service',
          include: ['test/*.test.ts'],
          exclude: ALONE,
          isolate: false,
          ...LIMITS,
          ...THEN,
        },
      },
      {
        test: {
          name: 'units',
          include: UNITS,
          exclude: ALONE,
          isolate: false,
          ...LIMITS,
          ...THEN,
        },
      },
    ],
  },
});
