import { expect, test } from 'vitest';
import { fromFirstEvent } from '../../web/src/charts/from-first-event.ts';

const point = (full: number, partial = 0, claimed = 0) => ({ full, partial, claimed });

test('starts a chart on the day before the first contract', () => {
  const points = [point(0), point(0), point(0), point(0, 2), point(1, 2)];
  expect(fromFirstEvent(points)).toEqual([point(0), point(0, 2), point(1, 2)]);
});

test('starts with claims, too', () => {
  const points = [point(0), point(0), point(0, 0, 1)];
  expect(fromFirstEvent(points)).toEqual([point(0), point(0, 0, 1)]);
});

test('keeps a chart whole if it starts with contracts or has none', () => {
  const full = [point(3), point(4)];
  const empty = [point(0), point(0), point(0)];
  expect(fromFirstEvent(full)).toEqual(full);
  expect(fromFirstEvent([point(0), ...full])).toEqual([point(0), ...full]);
  expect(fromFirstEvent(empty)).toEqual(empty);
});
