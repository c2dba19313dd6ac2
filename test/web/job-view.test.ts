import { describe, expect, test } from 'vitest';
import { failureKindOf } from '../../src/verification/verification-failure.ts';
import { adviseOn, FAILURE_TITLES } from '../../web/src/verify/failure-advice.ts';
import { describeSteps, type JobState } from '../../web/src/verify/job-state.ts';

const QUEUED: JobState = {
  id: '3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f',
  state: 'queued',
  chainId: 1,
  address: '0x',
  createdAt: '2026-02-03T04:05:00.000Z',
  runtimeMatch: null,
  creationMatch: null,
  stored: false,
};
const RUNNING: JobState = { ...QUEUED, state: 'running', startedAt: '2026-02-03T04:05:02.000Z' };
const ENDED = { ...RUNNING, finishedAt: '2026-02-03T04:05:04.500Z' };
const failure = (kind: string): JobState => ({
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
    expect(notes).toEqual([undefined, '2.0 s', 'the compiler took 1.2 s', '4.5 s in all']);
  });
});

test('each failure has a title and something to do next', () => {
  const unknown = adviseOn('some_newer_code');
  for (const code of ['no_match', 'missing_source', 'cannot_fetch_bytecode', 'compiler_error']) {
    expect(FAILURE_TITLES[failureKindOf(code)]).toBeDefined();
    expect(adviseOn(code)).not.toBe(unknown);
  }
  expect(adviseOn('__proto__')).toBe(unknown);
});
