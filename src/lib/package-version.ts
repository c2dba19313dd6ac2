import { readFileSync } from 'node:fs';

/** The version of this program, as its package says. */
export function readPackageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(text) as { version: unknown }).version);
}
