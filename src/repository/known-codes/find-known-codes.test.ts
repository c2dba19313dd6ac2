import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { costOf } from '../../../test/support/explain.ts';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { maskCode } from '../../bytecode/masked-code.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { advanceFeed } from '../../../test/support/advance-feed.ts';
import { saveMatch } from '../matches/save-matches.ts';
import { compilationId } from '../matches/verified-contract-identity.ts';
import { addKnownCodes } from './add-known-codes.ts';
import { findKnownCodes, findSimilarCodes } from './find-known-codes.ts';

const word = (value: number): string => value.toString(16).padStart(64, '0');
const auxdataOf = (hash: number): string =>
  `fea2646970667358221220${word(hash)}64736f6c63430008250033`;
/**
 * Bytecode with a constant, a word that could be an immutable, and a metadata hash; `tail` makes it different
 * bytecode.
 */
const codeOf = (constant: number, immutable = 0, hash = 1, tail = ''): Buffer =>
  Buffer.from(`5b7f${word(constant)}7f${word(immutable)}5b${tail}${auxdataOf(hash)}`, 'hex');

let testDatabase: TestDatabase;
const ids: string[] = [];
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  for (let variant = 0; variant < 3; variant += 1) {
    const contract = sampleContract(
      1,
      sampleAddress(variant),
      { runtimeMatch: 'full' },
      { variant },
    );
    await saveMatch(testDatabase.database, contract);
    ids.push(compilationId(contract.compilation));
  }
  await advanceFeed(testDatabase.database);
});
afterAll(() => testDatabase.drop());
beforeEach(() => run('TRUNCATE known_codes, known_contracts'));

const run = (text: string, values: unknown[] = []) =>
  testDatabase.database.query<{ uses: string }>(sql(`test ${text.slice(0, 40)}`, text), values);
const add = (
  fullyQualifiedName: string,
  code: Buffer,
  { of = 0, isCompiled = false }: { of?: number; isCompiled?: boolean } = {},
) =>
  addKnownCodes(testDatabase.database, [
    { compilationId: ids[of]!, fullyQualifiedName, code: maskCode(code), isCompiled },
  ]);
const find = async (code: Buffer): Promise<string[]> => {
  const names = [];
  for await (const { fullyQualifiedName } of findKnownCodes(
    testDatabase.database,
    maskCode(code),
  )) {
    names.push(fullyQualifiedName);
  }
  return names;
};

describe('Known bytecodes', () => {
  test('are proposed for bytecode with other values, but not with other constants', async () => {
    await add('a.sol:True', codeOf(5));
    await add('a.sol:Other', codeOf(6));
    expect(await find(codeOf(5, 1234, 2))).toEqual(['a.sol:True']);
    expect(await find(codeOf(7, 1234, 2))).toEqual([]);
  });

  test('with thousands of constants are distinguished by all of them with indexed lookups', async () => {
    const masked = maskCode(codeOf(5));
    const most = Array.from({ length: 4_000 }, (_, index) => BigInt(index) * 7_919n);
    const codes = Array.from({ length: 100 }, (_, index) => ({
      ...masked,
      plainHash: Buffer.alloc(32, index + 1),
      constants: [...most, BigInt(-1 - index)],
    }));
    await addKnownCodes(
      testDatabase.database,
      codes.map((code, index) => ({
        ...{ compilationId: ids[0]!, code, isCompiled: false },
        fullyQualifiedName: `x.sol:X${index}`,
      })),
    );
    const search = async (
      constants: readonly bigint[],
      database: Queryable = testDatabase.database,
    ): Promise<string[]> => {
      const names = [];
      const code = { ...maskCode(codeOf(5, 0, 9)), constants };
      const candidates = findKnownCodes(database, code);
      for await (const { fullyQualifiedName } of candidates) names.push(fullyQualifiedName);
      return names;
    };
    expect(await search([-7n, ...most, 5n])).toEqual(['x.sol:X6']);
    // Comparing all pairs of constants would not show up as rows of a plan step.
    let found: string[] | undefined;
    const { rows } = await costOf(testDatabase.database, async (database) => {
      found = await search(most, database);
    });
    expect(found).toEqual([]);
    expect(rows).toBeGreaterThanOrEqual(codes.length * most.length);
    expect(rows).toBeLessThanOrEqual(3 * codes.length * most.length);
  });

  test('are ordered by equal metadata first, then by the number of constants', async () => {
    await add('a.sol:Wide', codeOf(0, 0, 3));
    await add('a.sol:True', codeOf(5, 0, 1));
    await add('b.sol:True', codeOf(5, 0, 2), { of: 1 });
    expect(await find(codeOf(5, 99, 2))).toEqual(['b.sol:True', 'a.sol:True', 'a.sol:Wide']);
    expect(await find(codeOf(5, 99, 9))).toEqual(['a.sol:True', 'a.sol:Wide']);
  });

  test('are proposed once per compiled bytecode, with the most used contract', async () => {
    for (const [of] of ids.entries()) await add(`a.sol:C${of}`, codeOf(5, 0, of), { of });
    await run('UPDATE indexed_compilations SET uses = 9 WHERE compilation_id = $1', [ids[1]]);
    expect(await find(codeOf(5, 1, 77))).toEqual(['a.sol:C1']);
    await add('a.sol:Own', codeOf(5, 0, 4), { of: 2, isCompiled: true });
    expect(await find(codeOf(5, 1, 77))).toEqual(['a.sol:Own']);
  });

  test('are found among thousands added later to hide them', async () => {
    await add('a.sol:True', codeOf(5));
    const codes = Array.from({ length: 6000 }, (_, index) => maskCode(codeOf(index + 6)));
    const masked = maskCode(codeOf(5)).maskedHash;
    expect(codes.every(({ maskedHash }) => Buffer.compare(maskedHash, masked) === 0)).toBe(true);
    await addKnownCodes(
      testDatabase.database,
      codes.map((code, index) => ({
        ...{ compilationId: ids[1]!, code, isCompiled: false },
        fullyQualifiedName: `x.sol:X${index}`,
      })),
    );
    expect(await find(codeOf(5, 1, 2))).toEqual(['a.sol:True']);
    // With equal metadata they are found anywhere.
    await add('a.sol:Late', codeOf(6006, 0, 55));
    expect(await find(codeOf(6006, 1, 55))).toEqual(['a.sol:Late']);
    // Bytecodes whose constants are a subset of those on chain are limited, and those with the most come
    // first.
    await addKnownCodes(
      testDatabase.database,
      Array.from({ length: 40 }, (_, index) => ({
        ...{ compilationId: ids[2]!, isCompiled: false },
        fullyQualifiedName: `y.sol:Y${index}`,
        code: { ...maskCode(codeOf(0)), plainHash: Buffer.alloc(32, index) },
      })),
    );
    const found = await find(codeOf(5, 1, 2));
    expect([found[0], found.length <= 16]).toEqual(['a.sol:True', true]);
  });

  test('are found by equal metadata, or by a common beginning and equal length', async () => {
    const tail = `7f${'ab'.repeat(31)}`;
    await add('a.sol:Metadata', codeOf(5, 0, 7, `61${'11'.repeat(2)}`));
    await add('a.sol:Longer', codeOf(5, 0, 7, tail));
    const other = (constant: string) => codeOf(5, 1, 7, `61${constant.repeat(2)}`);
    expect((await find(other('22'))).sort()).toEqual(['a.sol:Longer', 'a.sol:Metadata']);
    expect((await find(codeOf(5, 1, 7, tail)))[0]).toBe('a.sol:Longer');
    const similar = async (code: Buffer) =>
      (await findSimilarCodes(testDatabase.database, maskCode(code))).map(
        (each) => each.fullyQualifiedName,
      );
    expect(await similar(other('22'))).toEqual([]);
    const long = (end: string) => Buffer.from(`${'5b'.repeat(600)}${end}`, 'hex');
    await add('a.sol:Long', long('6001'));
    expect(await similar(long('6002'))).toEqual(['a.sol:Long']);
    expect(await similar(long('600200'))).toEqual([]);
  });

  test('are recorded once per compilation with their number of uses', async () => {
    const [before] = await run('SELECT uses FROM indexed_compilations WHERE compilation_id = $1', [
      ids[0],
    ]);
    for (const number of [11, 12]) {
      const contract = sampleContract(1, sampleAddress(number), { runtimeMatch: 'full' });
      await saveMatch(testDatabase.database, contract);
    }
    await advanceFeed(testDatabase.database);
    const [after] = await run('SELECT uses FROM indexed_compilations WHERE compilation_id = $1', [
      ids[0],
    ]);
    expect(Number(after?.uses) - Number(before?.uses)).toBe(2);
  });
});
