import { expect, test } from 'vitest';
import { showProgress } from './progress-line.ts';

test('a terminal has one line, truncated to its width', () => {
  const written: string[] = [];
  const stderr = { isTTY: true, columns: 10, write: (text: string) => written.push(text) };
  const progress = showProgress({ stderr }, (count: number) => `${count} contracts`);
  progress.update(12);
  progress.end();
  expect(written).toEqual(['\r\u001b[K12 contra', '\r\u001b[K']);
});
