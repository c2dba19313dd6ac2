import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts';
import { archiveTarget } from './tree-target.ts';

describe('archive targets', () => {
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  const large = Buffer.alloc(2 ** 22);

  beforeAll(async () => {
    folder = await createTemporaryFolder();
  });
  afterAll(() => folder.remove());

  test('attach no reaction to a lasting promise for each file', async () => {
    const target = archiveTarget(path.join(folder.path, 'many.tar'));
    const reactions = new Map<unknown, number>();
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const { then } = Promise.prototype;
    Promise.prototype.then = function (this: Promise<unknown>, ...handlers) {
      reactions.set(this, (reactions.get(this) ?? 0) + 1);
      return then.apply(this, handlers);
    } as typeof then;
    try {
      for (let number = 0; number < 50; number += 1) {
        await target.putFile(`${number}.txt`, Buffer.from('text'));
      }
    } finally {
      Promise.prototype.then = then;
    }
    await target.end();
    expect(Math.max(...reactions.values())).toBeLessThan(5);
  });

  test('reject files if the archive cannot be written', async () => {
    const target = archiveTarget(path.join(folder.path, 'missing', 'tree.tar'));
    const putting = async (): Promise<void> => {
      // The first files may be accepted before the archive's file is opened.
      for (let number = 0; number < 100; number += 1) await target.putFile(`${number}`, large);
    };
    await expect(putting()).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(target.putFile('next', large)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(target.end()).rejects.toThrow();
    await target.giveUp();
  });

  test('reject a pending file if the archive is abandoned', async () => {
    const target = archiveTarget(path.join(folder.path, 'abandoned.tar'));
    const pending = expect(target.putFile('large.bin', large)).rejects.toThrow();
    // The entry is added in the next microtask.
    await Promise.resolve();
    await target.giveUp();
    await pending;
  });
});
