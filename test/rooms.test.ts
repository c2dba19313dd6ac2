import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawRooms, findMutualImports, readDrawing, readRooms } from '../scripts/rooms.ts';

test('docs/architecture.md shows the current rooms and imports', () => {
  expect(readDrawing()).toBe(drawRooms(readRooms()));
});

test('no two rooms import each other', () => {
  expect(findMutualImports(readRooms())).toEqual([]);
});

test('each room has a file that begins with its purpose', () => {
  const saysSo = (file: string): boolean =>
    /^(?:#!.*\n)?(?:\/\/ |\/\*\*\s)/.test(
      readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'),
    );
  const rooms = readRooms().filter(({ files: [first = ''] }) => first.startsWith('src/'));
  const silent = rooms.filter(({ files }) => files.length > 1 && !files.some(saysSo));
  expect(silent.map(({ name }) => name)).toEqual([]);
});
