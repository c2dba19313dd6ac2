import { expect, test } from 'vitest';
import { answerFailure } from './answer-verification.ts';

/** Returns the response to a status request for a job that failed with a code. */
async function read(dialect: string, method: string, code: string): Promise<unknown> {
  const question = { c: { req: { method } }, dialect, fields: {} };
  const failure = { code, message: `It is ${code}.`, id: 'an id' };
  const answer = answerFailure(question as never, failure);
  return (answer as Response).json();
}

test.each([
  'cannot_fetch_bytecode',
  'compiler_unavailable',
  'unsupported_compiler_version',
  'compiler_timeout',
  'internal_error',
])('does not report a job that could not check as a verdict: %s', async (code) => {
  for (const dialect of ['etherscan', 'blockscout']) {
    for (const method of ['GET', 'POST']) {
      const answer = { status: '0', message: 'NOTOK', result: `It is ${code}.` };
      expect(await read(dialect, method, code)).toMatchObject(answer);
    }
  }
});

test.each(['no_match', 'compiler_error', 'immutable_not_proven'])(
  'reports a job that checked as a verdict: %s',
  async (code) => {
    const result = 'Fail - Unable to verify';
    expect(await read('etherscan', 'GET', code)).toMatchObject({ status: '0', result });
    expect(await read('blockscout', 'GET', code)).toMatchObject({ status: '1', result });
  },
);
