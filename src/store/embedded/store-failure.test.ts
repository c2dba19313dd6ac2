import { describe, expect, test } from 'vitest';
import { type FullmatchError } from '../../errors.ts';
import { folderFailure, programFailure } from './store-failure.ts';

describe('Failed PostgreSQL program', () => {
  test.each([
    [
      'FATAL:  could not write lock file "postmaster.pid": No space left on device',
      'data_directory_full',
    ],
    [
      'initdb: error: could not create directory "/d/base": Disk quota exceeded',
      'data_directory_full',
    ],
    ['FATAL:  could not open file "PG_VERSION": Permission denied', 'data_directory_unusable'],
    ['FATAL:  data directory "/d" has invalid permissions', 'data_directory_unusable'],
    [
      'FATAL:  could not map anonymous shared memory: Cannot allocate memory',
      'embedded_server_unavailable',
    ],
    ['', 'embedded_server_unavailable'],
  ])('with output "%s" is reported as %s', (output, code) => {
    expect(programFailure('postgres', '/d', output).code).toBe(code);
  });

  test('is quoted with its last lines only', () => {
    const output = Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n');
    const { message } = programFailure('postgres', '/d', output);
    expect(message).toContain('line 99');
    expect(message).not.toContain('line 50');
  });
});

describe('Failed file operation', () => {
  test.each([
    ['ENOSPC', 'data_directory_full'],
    ['EACCES', 'data_directory_unusable'],
    ['EROFS', 'data_directory_unusable'],
    ['ENOTDIR', 'data_directory_unusable'],
    ['EBUSY', 'data_directory_unusable'],
    ['EIO', 'data_directory_unusable'],
  ])('with %s is reported as %s', (code, expected) => {
    const failure = folderFailure(
      Object.assign(new Error('failed'), { code }),
      '/d',
    ) as FullmatchError;
    expect(failure.code).toBe(expected);
  });

  test('leaves a programming error unchanged', () => {
    const error = new TypeError('x is not a function');
    expect(folderFailure(error, '/d')).toBe(error);
  });
});
