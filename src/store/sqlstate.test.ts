import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import {
  breaksConnection,
  isTransient,
  isRetryable,
  mapDatabaseError,
  sqlstateOf,
} from './sqlstate.ts';

function databaseError(code: string, message = 'refused'): DatabaseError {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code });
}

function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code });
}

describe('Database error', () => {
  test.each([
    [databaseError('08006'), 'database_unreachable'],
    [databaseError('57P01'), 'database_unreachable'],
    [databaseError('57P03'), 'database_unreachable'],
    [databaseError('53300'), 'database_unreachable'],
    [systemError('ECONNREFUSED'), 'database_unreachable'],
    [systemError('ENOENT'), 'database_unreachable'],
    [systemError('ENOTFOUND'), 'database_unreachable'],
    [new AggregateError([systemError('ECONNREFUSED')]), 'database_unreachable'],
    [new Error('Connection terminated unexpectedly'), 'database_unreachable'],
    [new Error('timeout exceeded when trying to connect'), 'database_unreachable'],
    [databaseError('53100'), 'data_directory_full'],
    [databaseError('57014'), 'database_unavailable'],
    [databaseError('53200'), 'database_unavailable'],
    [databaseError('25006'), 'database_unavailable'],
    [databaseError('58030'), 'database_unavailable'],
    [databaseError('XX001'), 'database_damaged'],
    [databaseError('58P01'), 'database_damaged'],
    [databaseError('42P01'), 'database_damaged'],
    [databaseError('23505'), 'database_error'],
    [databaseError('3D000'), 'database_error'],
    [new TypeError('undefined is not a function'), 'database_error'],
  ])('%s is %s', (error, code) => {
    expect(mapDatabaseError(error, { statement: 'test' }).code).toBe(code);
  });

  test('contains its SQLSTATE and statement label', () => {
    const mapped = mapDatabaseError(databaseError('23505'), { statement: 'save a match' });
    expect(mapped.details).toMatchObject({ sqlstate: '23505', statement: 'save a match' });
    expect(sqlstateOf(mapped)).toBe('23505');
    expect(mapDatabaseError(mapped, {})).toBe(mapped);
  });

  test('omits the user that the server rejected', () => {
    const refused = databaseError('28P01', 'password authentication failed for user "alice"');
    const mapped = mapDatabaseError(refused, { server: 'db:5432/x' });
    expect(JSON.stringify([mapped.message, mapped.details, String(mapped.cause)])).not.toContain(
      'alice',
    );
  });

  test('is retryable only for a deadlock or serialization failure', () => {
    expect(
      ['40P01', '40001', '23505', '57014'].map((code) => isRetryable(databaseError(code))),
    ).toEqual([true, true, false, false]);
  });

  test('while connecting is transient for a starting server, not for a missing or refusing one', () => {
    expect([systemError('ECONNREFUSED'), databaseError('57P03')].map(isTransient)).toEqual([
      true,
      true,
    ]);
    expect([systemError('ENOTFOUND'), databaseError('28P01')].map(isTransient)).toEqual([
      false,
      false,
    ]);
  });

  test('discards the connection if it or its prepared statements are broken', () => {
    expect(
      [databaseError('57P01'), databaseError('0A000'), systemError('EPIPE')].map(breaksConnection),
    ).toEqual([true, true, true]);
    expect(breaksConnection(databaseError('23505'))).toBe(false);
  });
});
