import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DIRECTORY = new URL('../../../shared/data/', import.meta.url);

/** Why a test that needs the shared data is skipped. */
export const NO_SHARED_DATA = 'the shared data folder is not beside this checkout';

/**
 * The parsed JSON file of the data folder that may exist next to a checkout (`../shared/data`), or undefined:
 * a clone alone does not have it, so tests that read it are skipped.
 */
export function sharedData(name: string): unknown {
  const file = new URL(name, DIRECTORY);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as unknown) : undefined;
}

/** A folder within the data folder, or undefined if it does not exist. */
export function sharedFolder(name: string): string | undefined {
  const folder = new URL(name, DIRECTORY);
  return existsSync(folder) ? fileURLToPath(folder) : undefined;
}

/** The parsed JSON file of `test/cases`: hard cases that are part of the project. */
export function readCases<T>(name: string): readonly T[] {
  const file = new URL(`../cases/${name}`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as readonly T[];
}
