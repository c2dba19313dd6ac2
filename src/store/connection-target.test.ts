import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FullmatchError } from '../errors.ts';
import { Secret } from '../lib/secret.ts';
import { connectClient, targetOfUrl } from './connection-target.ts';

const describeUrl = (url: string): string => targetOfUrl(new Secret(url), 'fullmatch').describe();

describe('Database URL', () => {
  test.each([
    ['postgres://alice:secret@db.example.org:6000/verified', 'db.example.org:6000/verified'],
    ['postgresql://alice@db.example.org/verified?sslmode=disable', 'db.example.org:5432/verified'],
    [
      'postgres://alice@/verified?host=%2Frun%2Fa%20folder',
      'socket /run/a folder, database verified',
    ],
    ['postgres://alice:p@ss@db/verified', 'db:5432/verified'],
    ['postgres://alice@/verified?host=/run/pg', 'socket /run/pg, database verified'],
  ])('%s resolves to %s', (url, expected) => {
    expect(describeUrl(url)).toBe(expected);
  });

  test.each([
    '',
    'postgres://alice:123/4@db/x',
    'postgres://alice:12#3@db/x',
    'db.example.org',
    'mysql://db/x',
    'postgres://alice:top%zzsecret@[::bad/verified',
  ])('is rejected when it is %j', (url) => {
    expect(() => describeUrl(url)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    );
  });

  test.each([
    [
      'postgres://alice:secret@a.example.org,b.example.org:6000/verified',
      'a.example.org:5432,b.example.org:6000/verified',
    ],
    [
      'postgres://alice@/verified?host=/run/a,/run/b&port=6000,6001',
      '/run/a:6000,/run/b:6001/verified',
    ],
    ['postgres://alice@a,b/verified?target_session_attrs=primary', 'a:5432,b:5432/verified'],
  ])('%s connects to one of several servers', (url, expected) => {
    const target = targetOfUrl(new Secret(url), 'fullmatch');
    expect(target.describe()).toBe(expected);
    const first = target.clientConfig();
    expect(target.turnFrom?.(first, new Error('down'))).toBe(true);
    const second = target.clientConfig();
    expect(second.connectionString).not.toBe(first.connectionString);
    // A caller that tried the first one at the same time does not move on from the second.
    target.turnFrom?.(first, new Error('down'));
    expect(target.clientConfig().connectionString).toBe(second.connectionString);
  });

  test.each([
    'postgres://a,b/x?target_session_attrs=any-will-do',
    'postgres://u@/x?host=/a,/b&port=1,2,3',
  ])('is rejected if its list of servers is invalid: %s', (url) => {
    expect(() => describeUrl(url)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    );
  });

  test('never shows its user and password in an error', async () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9!$%&'()*+,;=:@/?#[\]_-]{8,24}$/);
    await fc.assert(
      fc.asyncProperty(word, word, fc.boolean(), async (user, password, encoded) => {
        const write = encoded ? encodeURIComponent : (text: string): string => text;
        const secret = new Secret(
          `postgres://${write(user)}:${write(password)}@127.0.0.1:1/verified`,
        );
        const error: unknown = await Promise.resolve()
          .then(() => connectClient(targetOfUrl(secret, 'fullmatch')))
          .catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(FullmatchError);
        const shown =
          inspect(error, { depth: 8 }) + JSON.stringify((error as FullmatchError).details);
        expect(shown).not.toContain(user);
        expect(shown).not.toContain(password);
      }),
      { numRuns: 300 },
    );
  });
});
