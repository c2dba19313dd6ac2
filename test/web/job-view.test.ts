import { describe, expect, test } from 'vitest';
import { ERROR_CODES, FullmatchError, type ErrorCode } from '../../src/errors.ts';
import {
  FAILURE_KINDS,
  failureKindOf,
  toVerificationFailure,
} from '../../src/verification/verification-failure.ts';
import { adviceFor, FAILURE_TITLES, headingOf } from '../../web/src/verify/failure-advice.ts';
import { type JobState } from '../../web/src/answers.ts';
import { describeSteps } from '../../web/src/verify/job-state.ts';

const QUEUED: JobState = {
  id: '3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f',
  state: 'queued',
  chainId: 1,
  address: '0x',
  createdAt: '2026-02-03T04:05:00.000Z',
  runtimeMatch: null,
  creationMatch: null,
  stored: false,
  keptBeside: false,
};
const RUNNING: JobState = { ...QUEUED, state: 'running', startedAt: '2026-02-03T04:05:02.000Z' };
const ENDED = { ...RUNNING, finishedAt: '2026-02-03T04:05:04.500Z' };
const failure = (code: string, compileTimeMs?: number): JobState => ({
  ...ENDED,
  state: 'failed',
  ...(compileTimeMs !== undefined && { compileTimeMs }),
  failure: { kind: failureKindOf(code), code, message: '', id: '' },
});

describe('job steps', () => {
  test.each([
    ['queued', QUEUED, 'done now next next next'],
    ['running', RUNNING, 'done done now now next'],
    ['succeeded', { ...ENDED, state: 'succeeded' as const }, 'done done done done done'],
    ['no match', failure('no_match'), 'done done done done failed'],
    ['not compiled', failure('compiler_error'), 'done done failed skipped failed'],
    ['not read', failure('cannot_fetch_bytecode'), 'done done skipped failed failed'],
    ['compiled, not read', failure('contract_not_deployed', 9), 'done done done failed failed'],
    ['cancelled', failure('job_cancelled'), 'done done skipped skipped failed'],
  ])('show the recorded progress: %s', (_, job, stands) => {
    expect(
      describeSteps(job)
        .map((step) => step.stands)
        .join(' '),
    ).toBe(stands);
  });

  test('show their duration', () => {
    const notes = describeSteps({ ...ENDED, state: 'succeeded', compileTimeMs: 1234 }).map(
      ({ note }) => note,
    );
    expect(notes).toEqual([undefined, '2.0\u00a0s', '1.2\u00a0s', undefined, '4.5\u00a0s in all']);
  });
});

describe('failure details', () => {
  test('have readable headings, even without a dedicated one', () => {
    expect(['nearest', 'compilerErrors', 'otherFact', 'x'].map(headingOf)).toEqual([
      'Similar versions',
      'Compiler output',
      'Other fact',
      'X',
    ]);
  });
});

describe('advice after a failure', () => {
  const unknown = adviceFor('some_newer_code');

  test.each(Object.entries(FAILURE_KINDS))('exists for %s', (code, kind) => {
    expect(FAILURE_TITLES[kind]).toBeDefined();
    expect(adviceFor(code)).not.toBe(unknown);
  });

  test('exists for every error code that can end a job', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const { code: shown } = toVerificationFailure(new FullmatchError(code, 'a fault'));
      expect(adviceFor(shown), code).not.toBe(unknown);
    }
  });

  test('falls back to a generic text for unknown codes', () => {
    expect(adviceFor('__proto__')).toBe(unknown);
    expect(failureKindOf('some_newer_code')).toBe('not_checked');
  });
});
