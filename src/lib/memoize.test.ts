import { expect, test } from 'vitest';
import { memoize } from './memoize.ts';

test('memoizes results and evicts beyond its limit', () => {
  const asked: string[] = [];
  const lengthOf = memoize(3, (text) => {
    asked.push(text);
    return text.length;
  });
  expect(['a', 'bb', 'a', 'bb', 'ccc'].map(lengthOf)).toEqual([1, 2, 1, 2, 3]);
  expect(asked).toEqual(['a', 'bb', 'ccc']);
  expect(['dddd', 'a'].map(lengthOf)).toEqual([4, 1]);
  expect(asked).toEqual(['a', 'bb', 'ccc', 'dddd', 'a']);
});

test('does not cache inputs above the length limit', () => {
  let asked = 0;
  const count = memoize(3, () => (asked += 1), 2);
  expect(['aa', 'bbb', 'aa', 'bbb'].map(count)).toEqual([1, 2, 1, 3]);
});
