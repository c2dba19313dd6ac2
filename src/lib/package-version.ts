import { readFileSync } from 'node:fs';
import { packageFile } from './package-file.ts';

/** The version of this program, as its package says. */
export function readPackageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return String((JSON.parse(text) as { version: unknown }).version);
}
