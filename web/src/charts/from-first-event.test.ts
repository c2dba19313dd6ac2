import { expect, test } from 'vitest';
import { fromFirstEvent } from './from-first-event.ts';

const point = (full: number, partial = 0) => ({ full, partial });

test('a chart begins on the day before its first contract', () => {
  const points = [point(0), point(0), point(0), point(0, 2), point(1, 2)];
  expect(fromFirstEvent(points)).toEqual([point(0), point(0, 2), point(1, 2)]);
});

test('a chart that begins with contracts, or has none, stays whole', () => {
  const full = [point(3), point(4)];
  const empty = [point(0), point(0), point(0)];
  expect(fromFirstEvent(full)).toEqual(full);
  expect(fromFirstEvent([point(0), ...full])).toEqual([point(0), ...full]);
  expect(fromFirstEvent(empty)).toEqual(empty);
});
