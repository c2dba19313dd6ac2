import { expect, test } from 'vitest';
import { renderTable } from './table.ts';

test('left-aligns columns without trailing white space', () => {
  const table = renderTable(
    ['a', 'long head', 'c'],
    [
      ['1', '2', ''],
      ['three', 'ü', 'x'],
    ],
  );
  expect(table).toBe('a      long head  c\n1      2\nthree  ü          x\n');
});

test('prints only the headings if there are no rows', () => {
  expect(renderTable(['a', 'b'], [])).toBe('a  b\n');
});

test('escapes characters that move the cursor or hide text', () => {
  expect(renderTable(['a'], [['\u001b[2J\n\u202e']])).not.toMatch(/[\u001b\u202e]|\n.*\n.*\n/);
});
