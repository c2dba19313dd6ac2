import { expect, test } from 'vitest';

import { createCheckedApiApp } from '../../../test/support/wire/checked-answers.ts';
import { fixtureDependencies } from '../../../test/support/http-fixture.ts';

test('GET /v1/compilers lists what compiles, and what would be downloaded first', async () => {
  const compilers = {
    listUsable: async () => [
      { longVersion: '0.8.30+commit.73712a01', isInstalled: false, isPinned: false },
      { longVersion: '0.8.4+commit.c7e474f2', isInstalled: true, isPinned: true },
    ],
  };
  const response = await createCheckedApiApp(await fixtureDependencies({ compilers })).request(
    '/v1/compilers',
  );
  expect(await response.json()).toEqual({
    compilers: [
      { longVersion: '0.8.30+commit.73712a01', installed: false, checksum: 'list' },
      { longVersion: '0.8.4+commit.c7e474f2', installed: true, checksum: 'catalogue' },
    ],
  });
});
