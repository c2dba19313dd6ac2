import {
  isAlias,
  isCollection,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  type ErrorCode as YamlErrorCode,
  type ParsedNode,
} from 'yaml';
import { formatKey } from '../lib/format-key.ts';
import { type Problems } from './problems.ts';

/** Location of a key or list item, `fullmatch.yaml:12:3`, and the locations below it in the order of the file. */
export interface Place {
  readonly where: string;
  readonly below: Map<string, Place>;
}

/** A parsed YAML file, with the locations that messages point to. */
export interface YamlFile {
  /** Name of the file in messages. */
  readonly name: string;
  /** Maps become objects, lists become arrays. */
  readonly value: unknown;
  readonly place: Place;
}

/** Returns the location reached from `place` by steps such as `explorers`, `1`, `url`, as far as they exist. */
export function locate({ where, below }: Place, [step, ...steps]: readonly string[]): string {
  const next = step === undefined ? undefined : below.get(step);
  return next === undefined ? where : locate(next, steps);
}

const MAXIMUM_DEPTH = 32;

/**
 * Parses a YAML text more strictly than YAML requires: no duplicate keys, aliases, tags, second documents, or
 * whole numbers that a double cannot hold; keys are used as spelled. An empty text is an empty map. Adds
 * faults to `problems` with line and column but never quotes the text, which may contain a secret. Returns
 * undefined if no usable value remains.
 */
export function parseYaml(
  { name, text }: { readonly name: string; readonly text: string },
  problems: Problems,
): YamlFile | undefined {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { where: `${name}:${line}:${col}`, below: new Map() };
  };
  const report = (offset: number, message: string) =>
    problems.invalid(placeAt(offset).where, message);

  const tooDeep = findTooDeep(text);
  if (tooDeep !== undefined) {
    report(tooDeep, `nested deeper than ${MAXIMUM_DEPTH} levels`);
    return undefined;
  }
  const { contents, errors, warnings } = parseDocument(text, {
    intAsBigInt: true,
    uniqueKeys: false,
    prettyErrors: false,
  });
  const faults = [...errors, ...warnings];
  for (const fault of faults) report(fault.pos[0], explain(fault));
  if (faults.length > 0) return undefined;
  const place = placeAt(contents?.range[0] ?? 0);
  return {
    name,
    value: contents === null ? {} : readNode(contents, place, { placeAt, report }),
    place,
  };
}

/** Callbacks to locate and report positions in the text. */
interface Source {
  readonly placeAt: (offset: number) => Place;
  readonly report: (offset: number, message: string) => void;
}

/** Converts the node at a place into a plain value, and adds the places below it. */
function readNode(node: ParsedNode, place: Place, source: Source): unknown {
  const [offset] = node.range;
  if (isAlias(node)) {
    source.report(offset, 'aliases (*name) are not supported; write the value out');
    return null;
  }
  // Every map and list has a tag, prefixed with `!` only if explicit; a scalar has a tag only if explicit.
  if (node.tag?.startsWith('!') === true || (!isCollection(node) && node.tag !== undefined)) {
    source.report(offset, 'tags (!name) are not supported; remove it');
  }
  const readBelow = (step: string, at: number, value: ParsedNode | null) => {
    const below = source.placeAt(at);
    place.below.set(step, below);
    return value === null ? null : readNode(value, below, source);
  };
  if (isSeq(node)) {
    return node.items.map((item, index) => readBelow(String(index), item.range[0], item));
  }
  if (isScalar(node)) return readScalar(node.value, offset, source);
  const entries: [string, unknown][] = [];
  for (const { key, value } of node.items) {
    const [at] = key.range;
    if (!isScalar(key)) {
      source.report(at, 'a key must be plain text');
      continue;
    }
    const name = typeof key.value === 'string' ? key.value : key.source;
    const first = place.below.get(name)?.where;
    if (first === undefined) entries.push([name, readBelow(name, at, value)]);
    else
      source.report(at, `duplicate key, ${formatKey(name)}, first at ${first}; keep one of them`);
  }
  return Object.fromEntries(entries);
}

function readScalar(value: unknown, offset: number, { report }: Source): unknown {
  if (typeof value === 'bigint') {
    if (Number.isSafeInteger(Number(value))) return Number(value);
    report(offset, 'a whole number beyond 2^53-1, which cannot be represented exactly');
    return null;
  }
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  report(offset, 'expected text, a number, true or false');
  return null;
}

/**
 * Returns the offset of the first value nested too deeply. Uses the lexer, which does not recurse: a text of
 * a hundred thousand `[` would crash the parser. Block nesting by indentation needs a quadratic number of
 * bytes, so the file size limits it.
 */
function findTooDeep(text: string): number | undefined {
  let flow = 0;
  let indicators = 0;
  let offset = 0;
  let scalarNext = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '\x02' || lexeme === '\x1f') {
      scalarNext = lexeme === '\x1f';
      continue;
    }
    if (!scalarNext) {
      if (lexeme === '[' || lexeme === '{') flow += 1;
      else if (lexeme === ']' || lexeme === '}') flow -= 1;
      else if (lexeme === '-' || lexeme === '?' || lexeme === ':') indicators += 1;
      if (flow > MAXIMUM_DEPTH || indicators > MAXIMUM_DEPTH) return offset;
    }
    scalarNext = false;
    if (lexeme.includes('\n')) indicators = 0;
    offset += lexeme.length;
  }
  return undefined;
}

const EXPLANATIONS: Partial<Record<YamlErrorCode, string>> = {
  BAD_ALIAS:
    'aliases (*name) are not supported; write the value out, or quote text that starts with *',
  BAD_INDENT: 'the indentation does not fit the lines around it',
  BAD_SCALAR_START: 'text must not begin with @, ` or %; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: "a ':' too many on this line; put text that holds ': ' in quotes",
  MISSING_CHAR: 'a closing quote, bracket or comma is missing',
  MULTILINE_IMPLICIT_KEY: "a key must be on one line and be followed by ':'",
  MULTIPLE_DOCS: "a second document ('---') is not supported; keep one",
  TAB_AS_INDENT: 'indent with spaces instead of tabs',
  TAG_RESOLVE_FAILED: 'tags (!name) are not supported; remove it, or quote text that starts with !',
};

function explain({
  code,
  message,
}: {
  readonly code: YamlErrorCode;
  readonly message: string;
}): string {
  const bracket = /must be sufficiently indented and end with a ([\]}])/.exec(message)?.[1];
  if (bracket !== undefined) return `a closing ${bracket} is missing before the end of the line`;
  return (
    EXPLANATIONS[code] ?? `this is not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`
  );
}
