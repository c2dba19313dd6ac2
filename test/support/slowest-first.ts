import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. Without a list a fresh clone orders files by size, and one worker
 * may start a long file when all others have finished. A missing name only costs time.
 */
const SLOWEST = [
  ...['crash', 'pages', 'verify-matrix', 'client-hardhat-etherscan', 'pages-payloads'],
  ...['compilers-compile', 'compilers-limits', 'verify-settings', 'pages-verify'],
  ...['import-parquet', 'verify-bombs', 'client-forge-etherscan', 'concurrent-writers'],
  ...['pages-states', 'verify-process', 'verify-libraries', 'client-upgrades', 'reverify'],
  ...['verify-vyper-inputs', 'contract-stage', 'backup', 'secret-canaries', 'embedded-server'],
  ...['monitor-command', 'import-repository', 'service-ends', 'compilers-old-solidity'],
  ...['import-alliance', 'list-sync', 'bad-endpoints', 'client-hardhat-3', 'run-tests', 'verify'],
  ...['reload', 'monitor-killed', 'import-archive', 'import-web', 'compiler-downloads'],
  ...['doctor-command', 'export-round-trip', 'verify-command', 'verify-vyper', 'list-sync-chaos'],
  ...['pages-keyboard', 'verification-cases', 'verify-fair', 'follow-chains', 'export-parquet'],
  ...['verify-old-solidity', 'lying-endpoints', 'failover', 'requeue', 'database-trouble'],
  ...['pages-contracts', 'fuzz'],
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = SLOWEST.indexOf(path.basename(moduleId, '.test.ts').replace(/\.slow$/, ''));
  return rank === -1 ? SLOWEST.length : rank;
}

/** Starts the slowest files first, in each project. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = new Map<string, TestSpecification[]>();
    for (const file of await super.sort(files)) {
      const known = projects.get(file.project.name);
      if (known === undefined) projects.set(file.project.name, [file]);
      else known.push(file);
    }
    // The order of the others is kept: sorting is stable.
    return [...projects.values()].flatMap((group) => group.sort((a, b) => rankOf(a) - rankOf(b)));
  }
}
