import { describe, expect, test } from 'vitest';
import { createLogger } from '../log.ts';
import { formatLogLine } from './terminal-log.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  write(createLogger('debug', { write: (line) => (text += formatLogLine(line)) }));
  return text;
}

describe('Human-readable log line', () => {
  test('contains time, level, message and fields', () => {
    const line = logged((log) =>
      log.warn({ event: 'slow', chain_id: 1, label: 'a b' }, 'too slow'),
    );
    expect(line).toMatch(/^\d\d:\d\d:\d\d warn {2}too slow chain_id=1 label=a b\n$/);
  });

  test('shows the event if there is no message', () => {
    expect(logged((log) => log.info({ event: 'started' }))).toMatch(/info {2}started\n$/);
  });

  test('shows the stack of an error below', () => {
    const line = logged((log) => log.error({ err: new Error('broken') }, 'failed'));
    expect(line).toMatch(/error failed\n {4}Error: broken\n {4}at /);
  });

  test('escapes control characters and line breaks in values', () => {
    const line = logged((log) => log.info({ name: 'x\n\u001b[2J' }, 'seen\nforged'));
    expect(line.match(/\n/g)).toHaveLength(1);
    expect(line).not.toContain('\u001b');
  });

  test('passes through anything that is not a log line', () => {
    expect(formatLogLine('plain\n')).toBe('plain\n');
    expect(formatLogLine('7\n')).toBe('7\n');
  });
});
