import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawRooms, findMutualImports, readDrawing, readRooms } from '../scripts/rooms.ts';

test('docs/architecture.md draws the rooms and their imports as they are', () => {
  expect(readDrawing()).toBe(drawRooms(readRooms()));
});

test('no two rooms import each other', () => {
  expect(findMutualImports(readRooms())).toEqual([]);
});

test('each room has a file that begins with what the room is for', () => {
  const saysSo = (file: string): boolean =>
    /^(?:#!.*\n)?(?:\/\/ |\/\*\*\s)/.test(
      readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'),
    );
  const rooms = readRooms().filter(({ files: [first = ''] }) => first.startsWith('src/'));
  const silent = rooms.filter(({ files }) => files.length > 1 && !files.some(saysSo));
  expect(silent.map(({ name }) => name)).toEqual([]);
});
