import { readFileSync } from 'node:fs';
import { packageFile } from './package-file.ts';

/** Returns the version of this program from package.json. */
export function readPackageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return String((JSON.parse(text) as { version: unknown }).version);
}
