import { expect, test } from 'vitest';
import { restoreMetadata } from './restore-metadata.ts';

test('metadata that another writer spaced and escaped is written as a compiler does', () => {
  expect(restoreMetadata('{"a b": "\\u00e9 \\n", "c": [1, 2]}', null)).toBe(
    '{"a b":"é \\n","c":[1,2]}',
  );
});

// Finding where its strings end would take quadratic time: an hour for this one.
test('text that is no JSON is returned unchanged', () => {
  const open = `"${'\\"'.repeat(500_000)}`;
  expect(restoreMetadata(open, null)).toBe(open);
});
