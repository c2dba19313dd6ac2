import path from 'node:path';
import { FullmatchError } from '../errors.ts';
import { Secret, type NamedSecret } from '../lib/secret.ts';
import { type Environment } from './environment.ts';
import { type FileReader } from './file.ts';

/** Shorter parts, such as the password `test`, occur by chance; searching for them would raise false alarms. */
const MINIMUM_PART_LENGTH = 8;

/** A value, and the name of the variable that supplied it: `NAME` or `NAME_FILE`. */
interface Variable {
  readonly value: string;
  readonly variable: string;
}

/**
 * Reads secrets from the environment and from the files that `_FILE` variables name, as container platforms
 * mount them.
 */
export class SecretReader {
  readonly #environment: Environment;
  readonly #files: FileReader;
  readonly #workingDirectory: string;
  readonly #asked = new Set<string>();

  constructor(environment: Environment, files: FileReader, workingDirectory: string) {
    this.#environment = environment;
    this.#files = files;
    this.#workingDirectory = workingDirectory;
  }

  /**
   * Returns the value of `NAME`, or the content of the file that `NAME_FILE` names, without its trailing line
   * break. Undefined if neither is set.
   * @throws FullmatchError `invalid_configuration` if both are set, `configuration_file_unreadable`
   */
  read(name: string): Variable | undefined {
    const fileVariable = `${name}_FILE`;
    this.#asked.add(name).add(fileVariable);
    const value = this.#get(name);
    const file = this.#get(fileVariable);
    if (file === undefined) return value === undefined ? undefined : { value, variable: name };
    if (value !== undefined) {
      throw new FullmatchError(
        'invalid_configuration',
        `both ${name} and ${fileVariable} are set; unset one of them`,
      );
    }
    const absolute = path.resolve(this.#workingDirectory, file);
    const content = this.#files.read(absolute)?.replace(/\r?\n$/, '');
    if (content === undefined || content === '') {
      // The file name is not shown: it may be the secret itself, in the wrong variable.
      const fault = content === '' ? 'is empty' : 'does not exist';
      throw new FullmatchError(
        'configuration_file_unreadable',
        `${fileVariable} names a file that ${fault}; write the secret into a file and give its path`,
      );
    }
    return { value: content, variable: fileVariable };
  }

  /** Returns whether {@link read} has requested the variable, which makes its name a known one. */
  hasAsked(variable: string): boolean {
    return this.#asked.has(variable);
  }

  #get(name: string): string | undefined {
    return Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined;
  }
}

/** Matches `${NAME}` in a text that may contain secrets. */
export const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Lists the database URL and its password, both as written and decoded. */
export function databaseSecrets(name: string, url: Secret): NamedSecret[] {
  const text = url.reveal();
  const secrets: NamedSecret[] = [{ name, secret: url }];
  const authority = /^[^:]+:\/\/[^:/?#@]*:([^/]*)@/.exec(text)?.[1];
  const parameter = /[?&]password=([^&#]*)/.exec(text)?.[1];
  for (const password of new Set([authority, parameter].flatMap(spellings))) {
    if (password.length < MINIMUM_PART_LENGTH) continue;
    secrets.push({ name: `${name} (password)`, secret: new Secret(password) });
  }
  return secrets;
}

/**
 * Lists the substituted variables as secrets; those that are too short are covered by the complete text that
 * contains them.
 */
export function variableSecrets(variables: ReadonlyMap<string, string>): NamedSecret[] {
  return [...variables]
    .filter(([, value]) => value.length >= MINIMUM_PART_LENGTH)
    .map(([name, value]) => ({ name, secret: new Secret(value) }));
}

function spellings(text: string | undefined): string[] {
  if (text === undefined) return [];
  try {
    return [text, decodeURIComponent(text)];
  } catch {
    return [text];
  }
}
