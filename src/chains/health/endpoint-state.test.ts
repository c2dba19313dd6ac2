import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DOWN_AFTER,
  type EndpointState,
  nextState,
  startState,
  type StateRecord,
  UP_AFTER,
  type Verdict,
} from './endpoint-state.ts';

const VERDICTS = ['good', 'lagging', 'stalled', 'throttled', 'bad', 'wrong_chain'] as const;
const verdict = fc.constantFrom<Verdict>(...VERDICTS);
const curable = verdict.filter((each) => each !== 'wrong_chain');

/** The records before and after each verdict, one second apart. */
function run(verdicts: readonly Verdict[]): StateRecord[] {
  const records = [startState(0)];
  for (const [index, each] of verdicts.entries()) {
    records.push(nextState(records.at(-1)!, each, (index + 1) * 1000));
  }
  return records;
}

const endOf = (...verdicts: readonly Verdict[]): EndpointState => run(verdicts).at(-1)!.state;
const times = (count: number, each: Verdict): Verdict[] => Array<Verdict>(count).fill(each);

describe('Endpoint state', () => {
  test.each<[string, readonly Verdict[], EndpointState]>([
    ['is unknown after one good answer', ['good'], 'unknown'],
    ['is up after two', ['good', 'good'], 'up'],
    ['is unknown after four bad ones', times(4, 'bad'), 'unknown'],
    ['is down after five', times(5, 'bad'), 'down'],
    ['stays up through four bad ones', ['good', 'good', ...times(4, 'bad')], 'up'],
    ['is not up again after one good one', [...times(5, 'bad'), 'good'], 'down'],
    ['is up again after two', [...times(5, 'bad'), 'good', 'good'], 'up'],
    ['is throttled at once, also when it was up', ['good', 'good', 'throttled'], 'throttled'],
    ['is throttled and not down, however often', times(50, 'throttled'), 'throttled'],
    ['lives when it throttles', [...times(5, 'bad'), 'throttled'], 'throttled'],
    ['is of another chain at once', ['good', 'good', 'wrong_chain'], 'wrong_chain'],
    ['is lagging at once', ['good', 'good', 'lagging'], 'lagging'],
    ['is lagging until two good answers', ['lagging', 'good'], 'lagging'],
    ['is up after lagging', ['lagging', 'good', 'good'], 'up'],
    ['is stalled at once', ['good', 'good', 'stalled'], 'stalled'],
    ['is down until two answers, also old ones', [...times(5, 'bad'), 'lagging'], 'down'],
    ['is lagging after down', [...times(5, 'bad'), 'lagging', 'lagging'], 'lagging'],
  ])('%s', (_title, verdicts, state) => {
    expect(endOf(...verdicts)).toBe(state);
  });

  test('does not flap with a flapping endpoint', () => {
    const flapping = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 'bad' : 'good'));
    const states = run(['good', 'good', ...(flapping as Verdict[])]).slice(2);
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['up']));
    const fromDown = run([...times(5, 'bad'), ...(flapping as Verdict[])]).slice(5);
    expect(new Set(fromDown.map(({ state }) => state))).toEqual(new Set(['down']));
  });

  test('becomes down only after five bad verdicts in a row, and up only after two good ones', () => {
    fc.assert(
      fc.property(fc.array(verdict, { maxLength: 60 }), (verdicts) => {
        const records = run(verdicts);
        for (let at = 1; at < records.length; at += 1) {
          const state = records[at]!.state;
          if (state === records[at - 1]!.state) continue;
          const last = (count: number): Verdict[] => verdicts.slice(Math.max(0, at - count), at);
          if (state === 'down') expect(last(DOWN_AFTER)).toEqual(times(DOWN_AFTER, 'bad'));
          else if (state === 'up') expect(last(UP_AFTER)).toEqual(times(UP_AFTER, 'good'));
          else expect(verdicts[at - 1]).toBe(state);
        }
      }),
    );
  });

  test('stays wrong_chain once it was, and never precedes such a verdict', () => {
    fc.assert(
      fc.property(fc.array(verdict, { maxLength: 60 }), (verdicts) => {
        const first = verdicts.indexOf('wrong_chain');
        for (const [at, { state }] of run(verdicts).entries()) {
          expect(state === 'wrong_chain').toBe(first !== -1 && at > first);
        }
      }),
    );
  });

  test('follows five bad or two other equal verdicts, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(curable, { maxLength: 40 }), (before) => {
        expect(endOf(...before, ...times(DOWN_AFTER, 'bad'))).toBe('down');
        expect(endOf(...before, ...times(UP_AFTER, 'good'))).toBe('up');
        expect(endOf(...before, ...times(UP_AFTER, 'lagging'))).toBe('lagging');
        expect(endOf(...before, 'throttled')).toBe('throttled');
      }),
    );
  });

  test('starts its "since" at the time of the change', () => {
    fc.assert(
      fc.property(fc.array(verdict, { maxLength: 60 }), (verdicts) => {
        const records = run(verdicts);
        for (let at = 1; at < records.length; at += 1) {
          const [before, after] = [records[at - 1]!, records[at]!];
          const changed = before.state !== after.state;
          expect(after.since).toBe(changed ? at * 1000 : before.since);
        }
      }),
    );
  });
});
