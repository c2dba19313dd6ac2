import { describe, expect, test } from 'vitest';
import { asFullmatchError, FullmatchError } from '../errors.ts';
import { FetchFault } from './fetch-fault.ts';

describe('Guarded fetch error', () => {
  test('becomes a FullmatchError with the same code', () => {
    const fault = new FetchFault('throttled', 'later', { retryAfterMs: 5 });
    const error = asFullmatchError(fault);
    expect(error).toBeInstanceOf(FullmatchError);
    expect(error).toMatchObject({
      code: 'throttled',
      message: 'later',
      details: { retryAfterMs: 5 },
      cause: fault,
    });
  });

  test('leaves other errors unchanged', () => {
    const error = new Error('another');
    expect(asFullmatchError(error)).toBe(error);
  });
});
