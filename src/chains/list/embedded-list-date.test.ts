import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EMBEDDED_LIST } from './embedded-list-date.ts';

test('the embedded list has the date of its package', () => {
  const manifest = new URL(
    `../../../node_modules/${EMBEDDED_LIST.package}/package.json`,
    import.meta.url,
  );
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  expect(version).toBe(EMBEDDED_LIST.version);
});
