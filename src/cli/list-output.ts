import { type Command } from 'commander';
import { writeJson, writeLine, type OutputStream } from './cli-context.ts';
import { type ParsedOptions } from './config-options.ts';

/** Adds `--json` and `--ndjson` to a command that prints a list. */
export function addListOutputOptions(command: Command, json = 'Print JSON.'): Command {
  return command
    .option('--json', json)
    .option('--ndjson', 'Print one JSON value per line (https://github.com/ndjson/ndjson-spec).');
}

/**
 * Writes a list as JSON if that was requested.
 * @returns whether it did
 */
export function writeListJson(
  stream: OutputStream,
  options: ParsedOptions,
  values: readonly unknown[],
): boolean {
  if (options['ndjson'] === true) {
    for (const value of values) writeLine(stream, JSON.stringify(value));
  } else if (options['json'] === true) writeJson(stream, values);
  else return false;
  return true;
}

/** Receives the entries of a list one at a time. */
export interface ListWriter<Entry> {
  add(entry: Entry): void;
  end(): void;
}

/**
 * Creates a writer for a list whose entries arrive one at a time: it writes a line for each, or the formats of
 * {@link writeListJson}.
 */
export function createListWriter<Entry>(
  stream: OutputStream,
  options: ParsedOptions,
  toLine: (entry: Entry) => string,
): ListWriter<Entry> {
  const isArray = options['json'] === true && options['ndjson'] !== true;
  const entries: Entry[] = [];
  return {
    add: (entry) => {
      if (isArray) entries.push(entry);
      else writeLine(stream, options['ndjson'] === true ? JSON.stringify(entry) : toLine(entry));
    },
    end: () => {
      if (isArray) writeJson(stream, entries);
    },
  };
}
