import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FullmatchError } from '../errors.ts';
import { Secret } from '../lib/secret.ts';
import { connectClient, targetOfUrl } from './connection-target.ts';

const describeUrl = (url: string): string => targetOfUrl(new Secret(url), 'fullmatch').describe();

describe('a database URL', () => {
  test.each([
    ['postgres://alice:secret@db.example.org:6000/verified', 'db.example.org:6000/verified'],
    ['postgresql://alice@db.example.org/verified?sslmode=disable', 'db.example.org:5432/verified'],
    [
      'postgres://alice@/verified?host=%2Frun%2Fa%20folder',
      'socket /run/a folder, database verified',
    ],
    ['postgres://alice:p@ss@db/verified', 'db:5432/verified'],
    ['postgres://alice@/verified?host=/run/pg', 'socket /run/pg, database verified'],
  ])('%s leads to %s', (url, expected) => {
    expect(describeUrl(url)).toBe(expected);
  });

  test.each([
    '',
    'postgres://alice:123/4@db/x',
    'postgres://alice:12#3@db/x',
    'db.example.org',
    'mysql://db/x',
    'postgres://alice:top%zzsecret@[::bad/verified',
  ])('is refused when it is %j', (url) => {
    expect(() => describeUrl(url)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    );
  });

  test('never shows its user and password in an error, whatever they are', async () => {
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
