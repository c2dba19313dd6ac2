import { expect, test } from 'vitest';

import { createCheckedApiApp } from '../../../test/support/wire/checked-answers.ts';
import { fixtureDependencies } from '../../../test/support/http-fixture.ts';

test('GET /v1/compilers lists usable compilers and whether each is installed', async () => {
  const compilers = {
    listUsable: async () => [
      {
        compiler: 'solc' as const,
        longVersion: '0.8.30+commit.73712a01',
        isInstalled: false,
        isPinned: false,
      },
      {
        compiler: 'vyper' as const,
        longVersion: '0.4.0+commit.e9db8d9f',
        isInstalled: true,
        isPinned: true,
      },
    ],
  };
  const response = await createCheckedApiApp(await fixtureDependencies({ compilers })).request(
    '/v1/compilers',
  );
  expect(await response.json()).toEqual({
    compilers: [
      {
        compiler: 'solc',
        longVersion: '0.8.30+commit.73712a01',
        installed: false,
        checksum: 'list',
      },
      {
        compiler: 'vyper',
        longVersion: '0.4.0+commit.e9db8d9f',
        installed: true,
        checksum: 'catalogue',
      },
    ],
  });
});
