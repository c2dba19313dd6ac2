import { expect, test } from 'vitest';
import { drawRooms, findMutualImports, readDrawing, readRooms } from '../scripts/rooms.ts';

test('docs/architecture.md draws the rooms and their imports as they are', () => {
  expect(readDrawing()).toBe(drawRooms(readRooms()));
});

test('no two rooms import each other', () => {
  expect(findMutualImports(readRooms())).toEqual([]);
});
