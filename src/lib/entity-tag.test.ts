import { describe, expect, test } from 'vitest';

import { entityTags, matchIfNoneMatch } from './entity-tag.ts';

const tags = entityTags(Buffer.from('[]'));

describe('Entity tags', () => {
  test('are strong, equal for equal bytes and distinct for every content and coding', () => {
    expect(entityTags(Buffer.from('[]'))).toEqual(tags);
    const all = [...Object.values(tags), ...Object.values(entityTags(Buffer.from('{}')))];
    expect(new Set(all).size).toBe(6);
    for (const tag of all) expect(tag).toMatch(/^"[\w-]+"$/);
  });
});

describe('If-None-Match', () => {
  test.each([
    [tags.identity, 'identity'],
    [tags.gzip, 'gzip'],
    [tags.br, 'br'],
    [`W/${tags.br}`, 'br'],
    ['*', 'gzip'],
    [`"other", ${tags.identity}`, 'identity'],
    [`"other",W/${tags.identity},"third"`, 'identity'],
    [`${tags.identity}, ${tags.gzip}`, 'gzip'],
    [`, ,${tags.br}`, 'br'],
    ['"other"', undefined],
    ['', undefined],
    [tags.identity.replaceAll('"', ''), undefined],
    [`w/${tags.identity}`, undefined],
    [`"a${tags.identity.slice(1)}`, undefined],
    [`"other" ${tags.identity}`, undefined],
    [`${tags.identity.slice(0, -1)}-zstd"`, undefined],
  ])('%j matches the coding %j', (field, coding) => {
    expect(matchIfNoneMatch(field, tags, 'gzip')).toBe(coding);
  });

  test('is parsed in linear time', () => {
    // In quadratic time each of these would exceed the test's timeout; texts several times as long would
    // overflow the stack.
    for (const field of [
      `${'"a",'.repeat(250_000)}"`,
      `${', '.repeat(500_000)}x`,
      `"${' '.repeat(1_000_000)}`,
    ]) {
      expect(matchIfNoneMatch(field, tags, 'gzip')).toBeUndefined();
    }
  });
});
