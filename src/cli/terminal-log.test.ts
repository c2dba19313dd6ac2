import { describe, expect, test } from 'vitest';
import { createLogger } from '../log.ts';
import { formatLogLine } from './terminal-log.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  write(createLogger('debug', { write: (line) => (text += formatLogLine(line)) }));
  return text;
}

describe('a log line for people', () => {
  test('has the time, the level, the message and the facts', () => {
    const line = logged((log) =>
      log.warn({ event: 'slow', chain_id: 1, label: 'a b' }, 'too slow'),
    );
    expect(line).toMatch(/^\d\d:\d\d:\d\d warn {2}too slow chain_id=1 label=a b\n$/);
  });

  test('shows the event where there is no message', () => {
    expect(logged((log) => log.info({ event: 'started' }))).toMatch(/info {2}started\n$/);
  });

  test('has the stack of an error below', () => {
    const line = logged((log) => log.error({ err: new Error('broken') }, 'failed'));
    expect(line).toMatch(/error failed\n {4}Error: broken\n {4}at /);
  });

  test('lets no value write to the terminal or begin a line of its own', () => {
    const line = logged((log) => log.info({ name: 'x\n\u001b[2J' }, 'seen\nforged'));
    expect(line.match(/\n/g)).toHaveLength(1);
    expect(line).not.toContain('\u001b');
  });

  test('passes on what is not a log line', () => {
    expect(formatLogLine('plain\n')).toBe('plain\n');
    expect(formatLogLine('7\n')).toBe('7\n');
  });
});
