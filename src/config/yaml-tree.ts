import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  type ErrorCode as YamlErrorCode,
  type ParsedNode,
  type YAMLMap,
} from 'yaml';
import { showKey } from '../lib/shown-key.ts';
import { type Problems } from './problems.ts';

/** A file's text under the name by which messages call it. */
interface ConfigText {
  readonly name: string;
  readonly text: string;
}

/** A value of a YAML file with its place, `fullmatch.yaml:12:3`. */
export type YamlNode = YamlMap | YamlList | YamlScalar;

export interface YamlMap {
  readonly kind: 'map';
  readonly where: string;
  readonly entries: ReadonlyMap<string, YamlEntry>;
}

/** A key's value, and the place of the key. */
export interface YamlEntry {
  readonly where: string;
  readonly value: YamlNode;
}

export interface YamlList {
  readonly kind: 'list';
  readonly where: string;
  readonly items: readonly YamlNode[];
}

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly where: string;
  readonly value: string | number | boolean | null;
}

const MAXIMUM_DEPTH = 32;

/**
 * The tree of a YAML text, strict where YAML is lax: no duplicate keys, aliases, tags, second documents, or whole
 * numbers that a double cannot hold; keys are taken as they are spelled. An empty text is an empty map.
 * Faults are added to `problems` with line and column, in words that never quote the text: it may hold a secret.
 * Returns undefined when there is nothing sound to go on with.
 */
export function parseYaml(source: ConfigText, problems: Problems): YamlNode | undefined {
  const lines = new LineCounter();
  const whereOf = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${source.name}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const report = (offset: number, message: string) =>
    problems.add({ code: 'invalid_configuration', where: whereOf(offset), message });

  const tooDeep = findTooDeep(source.text);
  if (tooDeep !== undefined) {
    problems.add({
      code: 'invalid_configuration',
      where: `${source.name}:${tooDeep}`,
      message: `nested deeper than ${MAXIMUM_DEPTH} levels`,
    });
    return undefined;
  }
  const document = parseDocument(source.text, {
    intAsBigInt: true,
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  const faults = [...document.errors, ...document.warnings];
  for (const fault of faults) report(fault.pos[0], explain(fault.code));
  if (faults.length > 0) return undefined;
  if (document.contents === null) {
    return { kind: 'map', where: `${source.name}:1:1`, entries: new Map() };
  }
  return new TreeBuilder(whereOf, report).node(document.contents);
}

class TreeBuilder {
  readonly #where: (offset: number) => string;
  readonly #report: (offset: number, message: string) => void;

  constructor(
    where: (offset: number) => string,
    report: (offset: number, message: string) => void,
  ) {
    this.#where = where;
    this.#report = report;
  }

  node(node: ParsedNode): YamlNode {
    const offset = node.range[0];
    const where = this.#where(offset);
    if (isAlias(node)) {
      this.#report(offset, 'aliases (*name) are not read here; write the value out');
      return { kind: 'scalar', where, value: null };
    }
    if (node.tag?.startsWith('!') === true || isTagged(node)) {
      this.#report(offset, 'tags (!name) are not read here; remove it');
    }
    if (isMap(node)) return this.#map(node, where);
    if (isSeq(node)) {
      return { kind: 'list', where, items: node.items.map((item) => this.node(item)) };
    }
    return { kind: 'scalar', where, value: this.#scalar(node.value, offset) };
  }

  #map(map: YAMLMap.Parsed, where: string): YamlMap {
    const entries = new Map<string, YamlEntry>();
    for (const { key, value } of map.items) {
      const offset = key.range[0];
      if (!isScalar(key)) {
        this.#report(offset, 'a key must be plain text');
        continue;
      }
      const name = typeof key.value === 'string' ? key.value : key.source;
      const first = entries.get(name);
      if (first !== undefined) {
        this.#report(
          offset,
          `duplicate key, ${showKey(name)}, first at ${first.where}; keep one of them`,
        );
        continue;
      }
      const place = this.#where(offset);
      entries.set(name, {
        where: place,
        value: value === null ? { kind: 'scalar', where: place, value: null } : this.node(value),
      });
    }
    return { kind: 'map', where, entries };
  }

  #scalar(value: unknown, offset: number): YamlScalar['value'] {
    if (typeof value === 'bigint') {
      if (Number.isSafeInteger(Number(value))) return Number(value);
      this.#report(offset, 'a whole number beyond 2^53-1, which cannot be kept exact');
      return null;
    }
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return value;
    }
    if (value !== null) this.#report(offset, 'expected text, a number, true or false');
    return null;
  }
}

/** The plain value of a tree: maps as objects, lists as arrays. */
export function plainValue(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValue);
  return Object.fromEntries(
    [...node.entries].map(([key, entry]) => [key, plainValue(entry.value)]),
  );
}

/**
 * The place of what a dotted path such as `rpc.0` or `explorers[1].url` names below `node`, as deep as it is there.
 * @param key what is below that, as it is spelled
 */
export function whereIs(node: YamlNode, path: string, key?: string): string {
  let where = node.where;
  let at: YamlNode | undefined = node;
  const steps = path.split(/[.[\]]+/).filter((part) => part !== '');
  for (const step of key === undefined ? steps : [...steps, key]) {
    if (at?.kind === 'map') {
      const entry: YamlEntry | undefined = at.entries.get(step);
      if (entry === undefined) return where;
      where = entry.where;
      at = entry.value;
    } else if (at?.kind === 'list') {
      at = at.items[Number(step)];
      if (at === undefined) return where;
      where = at.where;
    } else return where;
  }
  return where;
}

/** Tags that the core schema knows, such as `!!binary`, are tags all the same when they are written out. */
function isTagged(node: ParsedNode): boolean {
  return !isCollection(node) && !isAlias(node) && node.tag !== undefined;
}

/**
 * `line:column` of the first value that nests too deep, found by the lexer, which does not recurse:
 * a text of a hundred thousand `[` would end the process in the parser. Block nesting by indentation
 * needs a quadratic number of bytes and is bounded by the size of a file.
 */
function findTooDeep(text: string): string | undefined {
  let flow = 0;
  let indicators = 0;
  let line = 1;
  let column = 1;
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
      if (flow > MAXIMUM_DEPTH || indicators > MAXIMUM_DEPTH) return `${line}:${column}`;
    }
    scalarNext = false;
    const lastBreak = lexeme.lastIndexOf('\n');
    if (lastBreak === -1) column += lexeme.length;
    else {
      line += lexeme.split('\n').length - 1;
      column = lexeme.length - lastBreak;
      indicators = 0;
    }
  }
  return undefined;
}

const EXPLANATIONS: Partial<Record<YamlErrorCode, string>> = {
  BAD_ALIAS:
    'aliases (*name) are not read here; write the value out, or quote text that begins with *',
  BAD_INDENT: 'the indentation does not fit the lines around it',
  BAD_SCALAR_START: 'text must not begin with @, ` or %; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: "a ':' too many on this line; put text that holds ': ' in quotes",
  MISSING_CHAR: 'a closing quote, bracket or comma is missing',
  MULTILINE_IMPLICIT_KEY: "a key must stand on one line and be followed by ':'",
  MULTIPLE_DOCS: "a second document ('---') is not read; keep one",
  TAB_AS_INDENT: 'a tab must not indent; use spaces',
  TAG_RESOLVE_FAILED: 'tags (!name) are not read here; remove it, or quote text that begins with !',
};

function explain(code: YamlErrorCode): string {
  return (
    EXPLANATIONS[code] ?? `this is not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`
  );
}
