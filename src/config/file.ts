import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { FullmatchError, messageOf } from '../errors.ts';

/** File system access of the configuration. Paths are absolute. */
export interface FileReader {
  /**
   * Returns the text of a file, or undefined if it does not exist.
   * @throws FullmatchError `configuration_file_unreadable`
   */
  read(file: string): string | undefined;
  /**
   * Returns the names in a folder in code-unit order, or undefined if it does not exist.
   * @throws FullmatchError `configuration_file_unreadable`
   */
  list(folder: string): readonly string[] | undefined;
}

const MAXIMUM_FILE_BYTES = 1_048_576;

/** Reads configuration files from the disk: regular files in UTF-8, up to 1 MiB. */
export const diskFiles: FileReader = {
  read(file) {
    return attempt(file, () => {
      const { size } = statSync(file);
      if (size > MAXIMUM_FILE_BYTES) throw tooLarge(file);
      // Pipes and devices report no size, so the size is checked again after reading.
      const bytes = readFileSync(file);
      if (bytes.length > MAXIMUM_FILE_BYTES) throw tooLarge(file);
      try {
        return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      } catch {
        throw unreadable(file, 'it is not UTF-8 text; save it as UTF-8');
      }
    });
  },
  list(folder) {
    return attempt(folder, () => readdirSync(folder).sort());
  },
};

/** Configuration file that is read from the working directory by default. */
const DEFAULT_FILE_NAME = 'fullmatch.yaml';

/** A configuration file: its text, the folder at which its relative paths start, and its name in messages. */
export interface ConfigFile {
  readonly name: string;
  readonly folder: string;
  readonly text: string;
}

/**
 * Finds and reads the configuration file: the named one, else fullmatch.yaml in the working directory, else
 * none.
 * @throws FullmatchError `configuration_file_unreadable` if a named file is missing or a file cannot be read
 */
export function readConfigFile(
  files: FileReader,
  workingDirectory: string,
  named: string | undefined,
): ConfigFile | undefined {
  const file = path.resolve(workingDirectory, named ?? DEFAULT_FILE_NAME);
  const name = showPath(file, workingDirectory);
  const text = files.read(file);
  if (text !== undefined) return { name, folder: path.dirname(file), text };
  if (named !== undefined) throw unreadable(file, 'there is no such file');
  const misspelt = path.resolve(workingDirectory, 'fullmatch.yml');
  if (files.read(misspelt) !== undefined) {
    throw unreadable(misspelt, `this name is not read; rename the file to ${DEFAULT_FILE_NAME}`);
  }
  return undefined;
}

/** Returns a path as messages show it: relative if it is below the working directory. */
export function showPath(file: string, workingDirectory: string): string {
  const relative = path.relative(workingDirectory, file);
  const below = relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
  return below ? relative : file;
}

function attempt<T>(file: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof FullmatchError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENAMETOOLONG') return undefined;
    throw unreadable(file, REASONS[code ?? ''] ?? messageOf(error));
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied; let this user read it',
  EPERM: 'permission denied; let this user read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  ELOOP: 'its symbolic links go round in a circle',
};

function tooLarge(file: string): FullmatchError {
  return unreadable(file, `it is larger than ${MAXIMUM_FILE_BYTES} bytes; split it over chains.d`);
}

function unreadable(file: string, reason: string): FullmatchError {
  return new FullmatchError('configuration_file_unreadable', `cannot read ${file}: ${reason}`, {
    details: { file },
  });
}
