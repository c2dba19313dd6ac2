import { describe, expect, test } from 'vitest';

import { createCheckedApiApp } from '../../test/support/wire/checked-answers.ts';
import { fixtureDependencies } from '../../test/support/http-fixture.ts';
import { FullmatchError } from '../errors.ts';
import { type HostApp } from './host-app.ts';

const CONTRACT = `/v2/contract/1/0x${'1'.repeat(40)}`;
const CHECK = `/check-all-by-addresses?addresses=0x${'1'.repeat(40)}&chainIds=1`;

/** Creates an API host that fails to read contracts. */
async function failingApp(error: Error): Promise<HostApp> {
  const { contracts, ...deps } = await fixtureDependencies();
  const fail = async (): Promise<never> => {
    throw error;
  };
  return createCheckedApiApp({
    ...deps,
    contracts: { ...contracts, readContract: fail, findOnChains: fail },
  });
}

describe('Failed check', () => {
  const unreachable = new FullmatchError('database_unreachable', 'The database does not answer.');

  test.each(['', '/server'])(
    'returns 503 and never "not verified", in each format, at %s/',
    async (prefix) => {
      const app = await failingApp(unreachable);
      const v2 = await app.request(`${prefix}${CONTRACT}`);
      expect(v2.status).toBe(503);
      expect(v2.headers.get('retry-after')).toBe('1');
      expect(await v2.json()).toEqual({
        customCode: 'database_unreachable',
        message: expect.any(String) as unknown,
        errorId: expect.any(String) as string,
      });
      const v1 = await app.request(`${prefix}${CHECK}`);
      expect(v1.status).toBe(503);
      expect(await v1.json()).toEqual({ error: expect.any(String) as unknown });
    },
  );
});

describe('Internal error', () => {
  test('shows only an id under which the error is logged', async () => {
    const app = await failingApp(new Error('secret detail'));
    const response = await app.request(CONTRACT);
    const body = (await response.json()) as {
      customCode: string;
      message: string;
      errorId: string;
    };
    expect([response.status, body.customCode]).toEqual([500, 'internal_error']);
    expect(body.message).toContain(body.errorId);
    expect(JSON.stringify(body)).not.toContain('secret detail');
  });
});

describe('Error format', () => {
  test.each([
    ['/v2', 'customCode'],
    ['/v2/nothing', 'customCode'],
    ['/server/v2/nothing', 'customCode'],
    ['/files/nothing', 'error'],
    ['/server/files', 'error'],
    ['/v2nothing', 'detail'],
    ['/nothing/v2/', 'detail'],
    ['/filesystem', 'detail'],
  ])('at %s contains the member %s', async (path, member) => {
    const app = createCheckedApiApp(await fixtureDependencies());
    const response = await app.request(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toHaveProperty(member);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});
