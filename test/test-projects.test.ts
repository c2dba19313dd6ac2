// The projects of vitest.config.ts: `npm test -- <name>` runs the files of both suites together.
import { expect, test } from 'vitest';
import config from '../vitest.config.ts';

test('projects that run together allow the same number of files at once', () => {
  const workers = new Map<unknown, Set<unknown>>();
  for (const project of config.test?.projects ?? []) {
    if (typeof project !== 'object' || !('test' in project)) continue;
    const { sequence, maxWorkers } = project.test ?? {};
    const order = sequence?.groupOrder;
    workers.set(order, (workers.get(order) ?? new Set()).add(maxWorkers));
  }
  expect([...workers.keys()]).toEqual([0, 1]);
  for (const [order, counts] of workers) expect(counts.size, `group ${String(order)}`).toBe(1);
});
