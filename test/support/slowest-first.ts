import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, the slowest first. Without a list a fresh clone goes by the size of files, and one
 * worker may begin a long file when all others are at their end. A name that is missing here costs only time.
 */
const SLOWEST = [
  ...['compilers-limits', 'verify-bombs', 'bytecode-oracle'],
  ...['crash', 'compilers-compile', 'client-hardhat-3', 'client-hardhat-2'],
  ...['pages-payloads', 'pages', 'client-forge', 'forgeries', 'verify-forgeries', 'verify-matrix'],
  ...['verify-libraries', 'verify-settings', 'pages-verify', 'pages-states', 'verify-process'],
  ...['concurrent-writers', 'malformed-requests', 'http-snapshot-swaps', 'secret-canaries'],
  ...['database-trouble', 'full-disk', 'verify-fair', 'verify-replaced-creation', 'list-plans'],
  ...['service-ends', 'reload', 'list-sync-chaos', 'import-repository', 'verify-deployments'],
  ...['list-sync', 'pages-statistics', 'pages-keyboard', 'pages-contracts', 'pages-interaction'],
  ...['pages-explanations', 'bytecode-compilers'],
  ...['embedded-server', 'put-back', 'start', 'registry-properties', 'data-directory'],
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
