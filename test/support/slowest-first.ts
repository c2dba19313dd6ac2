import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, the slowest first. Without a list a fresh clone goes by the size of files, and one
 * worker may begin a long file when all others are at their end. A name that is missing here costs only time.
 */
const SLOWEST = [
  // Compiles what the other tests of bytecode and verification then find compiled.
  'bytecode-oracle',
  ...['compilers-limits', 'client-hardhat-3', 'client-hardhat-2', 'crash', 'pages', 'client-forge'],
  ...[
    'concurrent-writers',
    'reload',
    'verify-process',
    'demo-command',
    'pages-verify',
    'pages-states',
    'pages-statistics',
    'pages-keyboard',
  ],
  ...['pages-payloads', 'pages-interaction', 'pages-explanations', 'pages-contracts'],
  ...['verify-matrix', 'verify-settings', 'bytecode-compilers', 'verify-libraries'],
  ...['verify-deployments', 'list-sync', 'secret-canaries', 'http-snapshot-swaps'],
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = SLOWEST.indexOf(path.basename(moduleId, '.test.ts'));
  return rank === -1 ? SLOWEST.length : rank;
}

/** Starts what takes longest first, in each project. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = new Map<string, TestSpecification[]>();
    for (const file of await super.sort(files)) {
      const known = projects.get(file.project.name);
      if (known === undefined) projects.set(file.project.name, [file]);
      else known.push(file);
    }
    // The order among the others stays: sorting is stable.
    return [...projects.values()].flatMap((group) => group.sort((a, b) => rankOf(a) - rankOf(b)));
  }
}
