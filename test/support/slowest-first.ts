import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. Without a list a fresh clone orders files by size, and one worker
 * may start a long file when all others have finished. A missing name only costs time.
 */
const SLOWEST = [
  ...['compilers-limits', 'verify-bombs', 'bytecode-oracle'],
  ...['client-upgrades', 'client-hardhat-etherscan', 'client-rocketh', 'client-hardhat-3'],
  ...['pages-payloads', 'client-hardhat-2', 'client-forge', 'crash', 'forgeries', 'pages'],
  ...['pages-verify', 'monitor-command', 'list-sync', 'doctor-command', 'pages-states'],
  ...['verify-process', 'contract-lists', 'pages-keyboard', 'embedded-server', 'import-repository'],
  ...['verify-false-creation', 'verify-settings', 'verify-file-order', 'follow-chains'],
  ...['bad-endpoints', 'contract-stage', 'verify-claimed-recreation', 'verify-matrix'],
  ...['malformed-requests', 'import-archive', 'import-parquet', 'verify-known-codes', 'backup'],
  ...['deploy', 'secret-canaries', 'import-alliance', 'verify', 'verification-cases'],
  ...['verify-endpoints', 'verify-imported-creation', 'concurrent-writers', 'verify-libraries'],
  ...['compilers-compile', 'export-parquet', 'start', 'put-back', 'signatures'],
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = SLOWEST.indexOf(path.basename(moduleId, '.test.ts'));
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
