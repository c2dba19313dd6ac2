import { describe, expect, test } from 'vitest';
import { ERROR_CODES, FullmatchError, type ErrorCode } from '../../src/errors.ts';
import {
  FAILURE_KINDS,
  failureKindOf,
  toVerificationFailure,
} from '../../src/verification/verification-failure.ts';
import { adviseOn, FAILURE_TITLES } from '../../web/src/verify/failure-advice.ts';
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
const failure = (kind: NonNullable<JobState['failure']>['kind']): JobState => ({
  ...ENDED,
  state: 'failed',
  failure: { kind, code: 'x', message: '', id: '' },
});

describe('the steps of a job', () => {
  test.each([
    ['queued', QUEUED, ['done', 'now', 'next', 'next']],
    ['running', RUNNING, ['done', 'done', 'now', 'next']],
    ['succeeded', { ...ENDED, state: 'succeeded' as const }, ['done', 'done', 'done', 'done']],
    ['no match', failure('no_match'), ['done', 'done', 'done', 'failed']],
    ['not compiled', failure('invalid_input'), ['done', 'done', 'failed', 'failed']],
  ])('are told as far as they are recorded: %s', (_, job, stands) => {
    expect(describeSteps(job).map((step) => step.stands)).toEqual(stands);
  });

  test('say how long they took', () => {
    const notes = describeSteps({ ...ENDED, state: 'succeeded', compileTimeMs: 1234 }).map(
      ({ note }) => note,
    );
    expect(notes).toEqual([
      undefined,
      '2.0\u00a0s',
      'the compiler took 1.2\u00a0s',
      '4.5\u00a0s in all',
    ]);
  });
});

describe('what to do next', () => {
  const unknown = adviseOn('some_newer_code');

  test.each(Object.entries(FAILURE_KINDS))('is told of %s', (code, kind) => {
    expect(FAILURE_TITLES[kind]).toBeDefined();
    expect(adviseOn(code)).not.toBe(unknown);
  });

  test('is told of whatever a part of the service ends a job with', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const { code: shown } = toVerificationFailure(new FullmatchError(code, 'a fault'));
      expect(adviseOn(shown), code).not.toBe(unknown);
    }
  });

  test('is told of codes that only a newer service knows', () => {
    expect(adviseOn('__proto__')).toBe(unknown);
    expect(failureKindOf('some_newer_code')).toBe('not_checked');
  });
});
