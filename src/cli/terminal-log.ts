import { type DestinationStream } from 'pino';
import { type LoadedConfig } from '../config/config.ts';
import { parseJson } from '../lib/parse-json.ts';
import { printableText } from '../lib/printable-text.ts';
import { createLogger, type Logger } from '../log.ts';
import { type CliContext, type OutputStream } from './cli-context.ts';

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/** Members of a log line that the human format shows separately or omits. */
const PLACED = new Set(['level', 'time', 'msg', 'err', 'event']);

/** Creates the log of `start`: on standard output, at the configured level. */
export function createServiceLog(loaded: LoadedConfig, context: CliContext): Logger {
  return createLogger(loaded.config.log.level, destinationFor(loaded, context.stdout));
}

/** Creates the log of every other command: on standard error, and only warnings unless a level is configured. */
export function createCommandLog(loaded: LoadedConfig, context: CliContext): Logger {
  const configured = loaded.origins.get('log.level') !== 'default';
  const level = configured ? loaded.config.log.level : 'warn';
  return createLogger(level, destinationFor(loaded, context.stderr));
}

/** Returns whether log lines on this stream are for people. */
export function isHuman(loaded: LoadedConfig, stream: OutputStream): boolean {
  const { format } = loaded.config.log;
  return format === 'auto' ? stream.isTTY === true : format === 'human';
}

function destinationFor(loaded: LoadedConfig, stream: OutputStream): DestinationStream {
  const human = isHuman(loaded, stream);
  return { write: (line) => stream.write(human ? formatLogLine(line) : line) };
}

/**
 * Formats a log line for people: the local time, the level, the message and the other members as `key=value`;
 * the stack of an error on the lines below. Text that is not a log line stays unchanged.
 */
export function formatLogLine(line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  const { level, time, msg, err, event } = entry;
  const clock = typeof time === 'string' ? new Date(time).toTimeString().slice(0, 8) : '';
  const name = (LEVEL_NAMES[Number(level)] ?? '').padEnd(5);
  const message = textOf(msg ?? event ?? '');
  const facts = Object.entries(entry)
    .filter(([key]) => !PLACED.has(key))
    .map(([key, value]) => ` ${key}=${textOf(value)}`)
    .join('');
  return `${clock} ${name} ${message}${facts}${stackOf(err)}\n`;
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  const value = parseJson(line);
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function textOf(value: unknown): string {
  return printableText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), 2000);
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('stack' in error)) return '';
  return String(error.stack)
    .split('\n')
    .map((line) => `\n    ${printableText(line.trim())}`)
    .join('');
}
