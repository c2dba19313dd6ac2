import { readdirSync } from 'node:fs';
import path from 'node:path';

const MODULES = path.resolve(import.meta.dirname, '../../node_modules');

/** The folders of all installed packages of solc: `solc` and the aliases `solc-<version>`. */
export const SOLC_PACKAGES: readonly string[] = readdirSync(MODULES)
  .filter((name) => /^solc(?:-|$)/.test(name))
  .map((name) => path.join(MODULES, name));

/** The long versions that the packages hold, oldest first. */
export const SOLC_VERSIONS: readonly string[] = [
  '0.4.11+commit.68ef5810',
  '0.4.18+commit.9cf6e910',
  '0.4.24+commit.e67f0147',
  '0.4.26+commit.4563c3fc',
  '0.5.9+commit.e560f70d',
  '0.5.17+commit.d19bba13',
  '0.6.12+commit.27d51765',
  '0.7.6+commit.7338295f',
  '0.8.4+commit.c7e474f2',
  '0.8.9+commit.e5eed63a',
  '0.8.11+commit.d7f03943',
  '0.8.17+commit.8df45f5f',
  '0.8.20+commit.a1b79de6',
  '0.8.24+commit.e11b9ed9',
  '0.8.30+commit.73712a01',
  '0.8.37+commit.f401782d',
];

/**
 * Versions without standard JSON, oldest first: one without metadata and paths, one without metadata, one
 * with both.
 */
export const OLD_SOLC_VERSIONS: readonly string[] = [
  '0.3.6+commit.3fc68da5',
  '0.4.6+commit.2dabbdf0',
  '0.4.9+commit.364da425',
];

/** The folder of the package that contains a version. */
export function solcPackageOf(longVersion: string): string {
  const [release = ''] = longVersion.split('+');
  return path.join(MODULES, release === '0.8.37' ? 'solc' : `solc-${release}`);
}
