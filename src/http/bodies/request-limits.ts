import { FullmatchError } from '../../errors.ts';
import { isMembers, type Members } from '../../lib/members.ts';
import { printableText } from '../../lib/printable-text.ts';
import { isPathWithinLimits, PATH_BOUNDS } from '../../lib/source-path.ts';
import {
  countJsonValues,
  JsonFault,
  type JsonLimits,
  parseUntrustedJson,
} from '../../lib/untrusted-json.ts';

/** Size limits of one verification request. */
export interface RequestLimits extends JsonLimits {
  /** Source files, whether sent or named by the metadata. */
  readonly sources: number;
  /** Text of the sources sent alongside metadata: each is hashed in several spellings to find it. */
  readonly sourceBytes: number;
}

const SHOWN_CHARACTERS = 120;

const CODES = {
  malformed: 'invalid_json',
  too_deep: 'invalid_json',
  too_many_escapes: 'invalid_json',
  too_many_values: 'request_too_many_values',
} as const;

/** Converts a JSON fault into an error with a code; returns any other error unchanged. */
export function asRequestError(error: unknown, name: string): unknown {
  if (!(error instanceof JsonFault)) return error;
  return new FullmatchError(CODES[error.kind], `${name} is refused. ${error.message}`);
}

/**
 * Parses JSON that a request contains.
 * @param name what the JSON is, at the start of the error's message: `The member abi`
 * @throws FullmatchError invalid_json, request_too_many_values
 */
export function parseJsonText(
  text: string | Uint8Array,
  limits: JsonLimits,
  name: string,
): unknown {
  try {
    return parseUntrustedJson(typeof text === 'string' ? Buffer.from(text) : text, limits);
  } catch (error) {
    throw asRequestError(error, name);
  }
}

/**
 * Parses the JSON object of a body.
 * @throws FullmatchError invalid_json, request_too_many_values
 */
export function parseJsonBody(bytes: Uint8Array, limits: JsonLimits): Members {
  const value = parseJsonText(bytes, limits, 'The body');
  if (isMembers(value)) return value;
  throw new FullmatchError('invalid_json', 'The body is JSON but not an object.');
}

/**
 * Creates a parser for ABIs that a body contains as text: all of them together may have as many values as one
 * body.
 * @returns a parser that throws FullmatchError invalid_json, request_too_many_values
 */
export function abiParser(limits: JsonLimits): (path: string, content: string) => unknown {
  let left = limits.values;
  return (path, content) => {
    const bytes = Buffer.from(content);
    const ofThis = { ...limits, values: left };
    try {
      left -= countJsonValues(bytes, ofThis);
      return parseUntrustedJson(bytes, ofThis);
    } catch (error) {
      throw asRequestError(error, `The interface ${printableText(path, SHOWN_CHARACTERS)}`);
    }
  };
}

/** @throws FullmatchError request_too_many_sources */
export function requireSourceLimit(count: number, { sources }: RequestLimits): void {
  if (count <= sources) return;
  throw new FullmatchError(
    'request_too_many_sources',
    `The request holds more than ${sources} source files; send those that the contract needs.`,
    { details: { limit: sources } },
  );
}

/** @throws FullmatchError source_path_too_long */
export function requireBoundedPaths(paths: readonly string[]): void {
  const long = paths.find((path) => !isPathWithinLimits(path));
  if (long === undefined) return;
  const shown = printableText(long, SHOWN_CHARACTERS);
  throw new FullmatchError(
    'source_path_too_long',
    `The path of the source "${shown}" is too long; paths may have ${PATH_BOUNDS}.`,
  );
}
