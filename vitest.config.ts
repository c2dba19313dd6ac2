import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/slowest-first.ts';

const SERVICE = ['test/*.test.ts'];
const UNITS = ['src/**/*.test.ts', 'test/web/*.test.ts', 'client/test/**/*.test.ts'];
/** Run only by `npm run test:slow`: many rounds, many compiler versions, real clients. */
const SLOW = '**/*.slow.test.ts';
/** Files that inspect the processes, memory or console of their own process, or that replace a module. */
const ALONE = [
  'test/bytecode-oracle.slow.test.ts',
  'test/compilers-limits.test.ts',
  'test/compilers-prepare.test.ts',
  'test/compilers-soljson.test.ts',
  'test/demo-command.test.ts',
  'test/verify-bombs.slow.test.ts',
];
const LIMITS = {
  // A shared machine can stall for half a minute, so these timeouts only end tests that hang.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  pool: 'forks',
  // Events that arrive immediately on an idle machine can be late on a busy one.
  expect: { poll: { interval: 20, timeout: 90_000 } },
} as const;

/** These measure time while compilers run, so they get no more workers than there are cores. */
const FIRST = { maxWorkers: 2, sequence: { groupOrder: 0 } } as const;
/** These wait for processes, frames and timers a third of the time: three workers keep two cores busy. */
const THEN = { maxWorkers: 3, sequence: { groupOrder: 1 }, isolate: false } as const;

/** Files that run more rounds or versions in the slow suite: they import support/suite.ts. */
const IN_BOTH = ['src', 'test', 'test/web', 'client/test']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: folder === 'src', encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => readFileSync(file, 'utf8').includes("support/suite.ts'"));
const FAST = { ...LIMITS, provide: { suite: 'fast' } } as const;
const SLOWER = { ...LIMITS, provide: { suite: 'slow' } } as const;

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: SlowestFirst },
    // The next run, of either suite, starts with the compiled modules of this one.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: { name: 'fast alone', include: ALONE, exclude: [SLOW], ...FAST, ...FIRST },
      },
      // Loading a file's imports takes seconds of CPU time, so a process keeps them for the next file.
      {
        test: {
          name: 'fast',
          include: [...SERVICE, ...UNITS],
          exclude: [SLOW, ...ALONE],
          ...FAST,
          ...THEN,
        },
      },
      {
        test: {
          name: 'slow alone',
          include: ALONE.filter((file) => file.includes('.slow.') || IN_BOTH.includes(file)),
          ...SLOWER,
          ...FIRST,
        },
      },
      {
        test: {
          name: 'slow',
          include: [SLOW, ...IN_BOTH],
          exclude: ['**/node_modules/**', ...ALONE],
          ...SLOWER,
          ...THEN,
        },
      },
    ],
  },
});
