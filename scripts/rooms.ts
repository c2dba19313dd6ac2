/**
 * Draws the rooms of the code and the imports between them: `npm run rooms`. With `--lines` it also counts
 * their lines; with `--write` it updates the drawing in docs/architecture.md, which a test keeps equal to the
 * code.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const DOCUMENT = path.join(ROOT, 'docs/architecture.md');
const BEGIN = '<!-- rooms: written by `npm run rooms -- --write` -->\n\n```\n';
const END = '\n```\n';

/** A folder or a file directly below `src`, the pages, or the client. */
export interface Room {
  readonly name: string;
  readonly files: readonly string[];
  /** The rooms that its files import from, types included. */
  readonly imports: ReadonlySet<string>;
}

function listFiles(): string[] {
  return execFileSync('git', ['ls-files', 'src', 'web/src', 'client/src'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.(?:ts|tsx|mjs)$/.test(file) && !/\.test\.tsx?$/.test(file));
}

function roomOf(file: string): string {
  const [folder = '', second = ''] = file.split('/');
  return folder === 'src' ? second.replace(/\.ts$/, '') : folder;
}

function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(path.join(ROOT, file), 'utf8'));
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => path.posix.join(path.posix.dirname(file), name));
}

/** The rooms, each after those that import it; rooms that import each other are sorted by name. */
export function readRooms(): Room[] {
  const rooms = new Map<string, { name: string; files: string[]; imports: Set<string> }>();
  for (const file of listFiles()) {
    const name = roomOf(file);
    const room = rooms.get(name) ?? { name, files: [], imports: new Set<string>() };
    rooms.set(name, room);
    room.files.push(file);
    for (const imported of importsOf(file)) {
      const other = roomOf(imported);
      if (other !== name) room.imports.add(other);
    }
  }
  const left = [...rooms.values()].sort((one, other) => one.name.localeCompare(other.name));
  const ordered: Room[] = [];
  while (left.length > 0) {
    const next = left.findIndex(({ name }) => !left.some(({ imports }) => imports.has(name)));
    ordered.push(...left.splice(Math.max(0, next), 1));
  }
  return ordered;
}

/** Pairs of rooms that import each other. */
export function findMutualImports(rooms: readonly Room[]): string[] {
  return rooms.flatMap(({ name, imports }) =>
    rooms
      .filter((other) => name < other.name && imports.has(other.name) && other.imports.has(name))
      .map((other) => `${name} ↔ ${other.name}`),
  );
}

/** One line per room: its name and the rooms that it imports. */
export function drawRooms(rooms: readonly Room[]): string {
  const width = Math.max(...rooms.map(({ name }) => name.length));
  const order = rooms.map(({ name }) => name);
  return rooms
    .map(({ name, imports }) => {
      const sorted = order.filter((other) => imports.has(other));
      return `${name.padEnd(width)} → ${sorted.length === 0 ? 'libraries only' : sorted.join(', ')}`;
    })
    .join('\n');
}

/** The drawing in docs/architecture.md. */
export function readDrawing(): string {
  const text = readFileSync(DOCUMENT, 'utf8');
  const begin = text.indexOf(BEGIN);
  if (begin < 0) return '';
  return text.slice(begin + BEGIN.length, text.indexOf(END, begin + BEGIN.length));
}

function countLines({ files }: Room): number {
  return files.reduce(
    (sum, file) => sum + readFileSync(path.join(ROOT, file), 'utf8').split('\n').length - 1,
    0,
  );
}

function run(options: readonly string[]): void {
  const rooms = readRooms();
  const drawing = drawRooms(rooms);
  if (options.includes('--write')) {
    const text = readFileSync(DOCUMENT, 'utf8');
    writeFileSync(
      DOCUMENT,
      text.replace(readDrawing(), () => drawing),
    );
  }
  process.stdout.write(`${drawing}\n`);
  if (!options.includes('--lines')) return;
  const inSource = (room: Room): boolean => room.files.some((file) => file.startsWith('src/'));
  const sum = (counted: readonly Room[]): number =>
    counted.reduce((total, room) => total + countLines(room), 0);
  for (const room of rooms) process.stdout.write(`${countLines(room)}\t${room.name}\n`);
  process.stdout.write(`${sum(rooms.filter(inSource))}\tsrc\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) run(process.argv.slice(2));
