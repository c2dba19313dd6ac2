import { expect, test } from 'vitest';
import { readEnvironment } from './environment.ts';
import { SETTINGS } from './settings.ts';

test('treats an empty variable as unset', () => {
  expect(readEnvironment({ FULLMATCH_HOST: '', PATH: '/bin', NOTHING: undefined })).toEqual({
    PATH: '/bin',
  });
});

test('keeps the documented variable names', () => {
  const names = [...SETTINGS.values()].map(({ variable }) => variable);
  expect(names).toEqual(
    expect.arrayContaining([
      'FULLMATCH_API_PORT',
      'FULLMATCH_REPOSITORY_PORT',
      'FULLMATCH_HOST',
      'FULLMATCH_DATA_DIR',
      'FULLMATCH_LOG_LEVEL',
      'FULLMATCH_METRICS_PORT',
      'FULLMATCH_API_PREFIX',
      'DATABASE_URL',
    ]),
  );
  expect(new Set(names).size).toBe(names.length);
});
