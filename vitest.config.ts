import { defineConfig } from 'vitest/config';

const UNITS = ['src/**/*.test.ts', 'test/web/*.test.ts', 'client/test/**/*.test.ts'];
const LIMITS = { testTimeout: 30_000, hookTimeout: 60_000, pool: 'forks' } as const;

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    maxWorkers: 2,
    projects: [
      // Loading what a file imports takes longer than most of these tests, so a process keeps it for the next file.
      { test: { name: 'units', include: UNITS, isolate: false, ...LIMITS } },
      { test: { name: 'service', include: ['test/*.test.ts'], ...LIMITS } },
    ],
  },
});
