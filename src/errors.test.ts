import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, FullmatchError, messageOf, type ErrorCode } from './errors.ts';

const root = path.resolve(import.meta.dirname, '..');
const codes = Object.keys(ERROR_CODES) as ErrorCode[];

interface Row {
  readonly code: string;
  readonly status: number;
  readonly exit: number;
  readonly happened: string;
  readonly todo: string;
}

/** The rows of docs/errors.md that begin with a code. */
function documentedRows(): readonly Row[] {
  const text = readFileSync(path.join(root, 'docs/errors.md'), 'utf8');
  return text
    .split('\n')
    .map((line) => /^\| `(\w+)` +\| (\d+) +\| (\d+) +\| (.*?) +\| (.*?) +\|$/.exec(line))
    .filter((found) => found !== null)
    .map(([, code = '', status, exit, happened = '', todo = '']) => ({
      code,
      status: Number(status),
      exit: Number(exit),
      happened,
      todo,
    }));
}

/** The text of all files of src/ but the table itself and tests. */
function sourceText(): string {
  return readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'errors.ts')
    .map((file) => readFileSync(path.join(root, 'src', file), 'utf8'))
    .join('\n');
}

describe('Error code table', () => {
  test('uses lower_snake_case codes', () => {
    for (const code of codes) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  test('uses HTTP error statuses and defined exit codes', () => {
    for (const code of codes) {
      const { status, exit, title } = ERROR_CODES[code];
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect([1, 2, 6, 75, 130]).toContain(exit);
      expect(title).not.toBe('');
    }
  });

  test('agrees on retryable errors in status and exit code', () => {
    for (const code of codes) {
      const { status, exit } = ERROR_CODES[code];
      expect([code, exit === 75 || exit === 130]).toEqual([code, [408, 429, 503].includes(status)]);
    }
  });

  test('contains no unused code', () => {
    const text = sourceText();
    expect(codes.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });
});

describe('docs/errors.md', () => {
  const rows = documentedRows();

  test('lists the codes of the table once, in its order', () => {
    expect(rows.map((row) => row.code)).toEqual(codes);
  });

  test('shows the statuses and exit codes of the table', () => {
    for (const { code, status, exit } of rows) {
      const entry = ERROR_CODES[code as ErrorCode];
      expect({ code, status, exit }).toEqual({ code, status: entry.status, exit: entry.exit });
    }
  });

  test('explains every code and its remedy', () => {
    for (const { happened, todo } of rows) {
      expect(happened).toMatch(/^\S.{9,}\.$/);
      expect(todo).toMatch(/^\S.{9,}\.$/);
    }
  });
});

describe('FullmatchError', () => {
  test('contains its code, details and cause next to the message', () => {
    const cause = new Error('inner');
    const details = { chain_id: 1 };
    const error = new FullmatchError('chain_not_found', 'no chain 1', { cause, details });
    expect(error).toMatchObject({
      name: 'FullmatchError',
      code: 'chain_not_found',
      details,
      cause,
    });
    expect(messageOf(error)).toBe('no chain 1');
    expect(messageOf('thrown text')).toBe('thrown text');
  });

  test('has no cause by default', () => {
    expect('cause' in new FullmatchError('not_ready', 'wait')).toBe(false);
  });
});
