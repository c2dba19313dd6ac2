import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { FreeSpace } from './free-space.ts';

describe('Free disk space', () => {
  test('below the floor is reported with the time of the shortage', async () => {
    const space = new FreeSpace(tmpdir(), Number.MAX_SAFE_INTEGER);
    await expect(space.require()).rejects.toMatchObject({
      code: 'storage_full',
      details: { retryAfterSeconds: 30 },
    });
    expect(space.shortage?.since).toBeInstanceOf(Date);
  });

  test.each([
    ['there is more than the floor', tmpdir(), 1],
    ['no floor is set', tmpdir(), 0],
    ['the disk is that of another server', undefined, Number.MAX_SAFE_INTEGER],
    ['the folder cannot be asked', '/nowhere/at/all', Number.MAX_SAFE_INTEGER],
  ])('is sufficient when %s', async (_when, folder, floor) => {
    const space = new FreeSpace(folder, floor);
    await space.require();
    expect(space.shortage).toBeUndefined();
  });
});
