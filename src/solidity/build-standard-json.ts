import { isAddress } from '../lib/address-text.ts';
import { groupByPath } from './library-id.ts';
import { type StandardJsonInput } from './standard-json.ts';

/** Settings of a compilation. Members left out have the compiler's default. */
export interface SourceSettings {
  readonly optimizer?: { readonly enabled?: boolean; readonly runs?: number };
  /** As the compiler names it; `default` means the compiler's default. */
  readonly evmVersion?: string;
  readonly viaIR?: boolean;
  /** `path:Name`, or just `Name` if a single source declares it -> address. */
  readonly libraries?: Readonly<Record<string, string>>;
  /** `context:prefix=target`. */
  readonly remappings?: readonly string[];
}

/** Sources as written, with the settings that they were compiled with. */
export interface PlainSources extends SourceSettings {
  /** Path -> text. */
  readonly sources: Readonly<Record<string, string>>;
  /** `Solidity` (default) or `Yul`. */
  readonly language?: string;
  /**
   * Whether library names that none or several of the sources declare are skipped, as explorers do: the addresses
   * are in the bytecode. Otherwise they are an error.
   */
  readonly skipUnplacedLibraries?: boolean;
}

/** Why plain sources cannot be converted to an input; the message is a sentence for users. */
export class PlainSourcesError extends Error {
  override readonly name = 'PlainSourcesError';
  /** The invalid part: `sources` or `libraries`. */
  readonly part: 'sources' | 'libraries';

  constructor(part: PlainSourcesError['part'], message: string) {
    super(message);
    this.part = part;
  }
}

/** Default `runs` of the optimizer in every version. */
const DEFAULT_RUNS = 200;
/** What explorers and forms write for the compiler's default EVM version. */
const OWN_EVM_VERSION = /^(?:|default|compiler default)$/i;

/** Returns whether a text means the compiler's default EVM version. */
export function isDefaultEvmVersion(text: string): boolean {
  return OWN_EVM_VERSION.test(text);
}

/**
 * Builds the standard JSON input of sources and settings from explorers, forms and command lines. Writes only
 * the given settings, so that the metadata is the same as from tools that leave defaults out, except for the
 * optimizer, which tools always write.
 * @throws PlainSourcesError
 */
export function buildStandardJson({
  sources,
  language = 'Solidity',
  skipUnplacedLibraries = false,
  ...settings
}: PlainSources): StandardJsonInput {
  const paths = Object.keys(sources);
  if (paths.length === 0) throw new PlainSourcesError('sources', 'There are no sources.');
  const { optimizer = {}, evmVersion = '', viaIR, libraries = {}, remappings = [] } = settings;
  const { enabled = false, runs = DEFAULT_RUNS } = optimizer;
  const ids = Object.entries(libraries);
  const places = ids.some(([id]) => !id.includes(':')) ? placesByName(sources) : undefined;
  const named = ids.flatMap(([id, address]) => {
    const found = id.includes(':') ? [id] : (places?.get(id) ?? []).map((path) => `${path}:${id}`);
    if (found.length !== 1 && skipUnplacedLibraries) return [];
    return [[requireOnePlace(id, found), requireAddress(id, address)] as const];
  });
  return {
    language,
    sources: Object.fromEntries(paths.map((path) => [path, { content: sources[path] ?? '' }])),
    settings: {
      optimizer: { enabled, runs },
      ...(!isDefaultEvmVersion(evmVersion) && { evmVersion }),
      ...(viaIR === true && { viaIR }),
      ...(named.length > 0 && { libraries: groupByPath(named) }),
      ...(remappings.length > 0 && { remappings: [...remappings] }),
      outputSelection: { '*': { '*': ['*'] } },
    },
  };
}

function requireAddress(id: string, address: string): string {
  const digits = address.startsWith('0x') ? address : `0x${address}`;
  if (isAddress(digits)) return digits;
  throw new PlainSourcesError(
    'libraries',
    `The library ${shown(id)} needs an address: 0x and 40 hexadecimal digits.`,
  );
}

/** Returns the paths of the sources that declare each name. */
function placesByName(sources: PlainSources['sources']): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const { path, name } of findDeployableContracts(sources)) {
    const known = places.get(name);
    if (known === undefined) places.set(name, [path]);
    else known.push(path);
  }
  return places;
}

/** @throws PlainSourcesError unless there is exactly one place */
function requireOnePlace(id: string, [only, another]: readonly string[]): string {
  if (only !== undefined && another === undefined) return only;
  throw new PlainSourcesError(
    'libraries',
    only === undefined
      ? `No source declares the library ${shown(id)}; write it as path:Name.`
      : `Several sources declare the library ${shown(id)}; write it as path:Name.`,
  );
}

const SHOWN_CHARACTERS = 120;
const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_CHARACTERS));

/**
 * A contract or library that a text declares. Interfaces and abstract contracts are excluded, since they are
 * never deployed.
 */
export interface Declaration {
  readonly path: string;
  readonly name: string;
}

const DECLARED = /(?<![\w$.])(?:contract|library)\s{1,64}([A-Za-z_$][\w$]{0,255})/g;
const ABSTRACT_BEFORE = /(?<![\w$.])abstract\s{1,64}$/;
const ABSTRACT_CHARACTERS = 80;

/** Returns the contracts and libraries that the sources declare, in order: those that may have been deployed. */
export function findDeployableContracts(sources: PlainSources['sources']): readonly Declaration[] {
  return Object.entries(sources).flatMap(([path, text]) => {
    const { code } = readCode(text);
    return [...code.matchAll(DECLARED)]
      .filter(
        ({ index }) =>
          !ABSTRACT_BEFORE.test(code.slice(Math.max(0, index - ABSTRACT_CHARACTERS), index)),
      )
      .map(([, name = '']) => ({ path, name }));
  });
}

/** An import that is not among the sources. */
export interface MissingImport {
  /** The name in the import statement. */
  readonly name: string;
  /** Path of the importing source. */
  readonly from: string;
  /** The path that the compiler looks up, after remappings. */
  readonly path: string;
}

const IMPORT = /(?<![\w$.])import(?![\w$])/;

/** More imports than any project has, counting each name once per source. */
const MAX_IMPORTS = 20_000;

/**
 * Returns the imports that are not among the sources, without duplicates and in source order. Text in
 * comments and strings is ignored.
 * @throws PlainSourcesError if the sources have too many imports to check
 */
export function findMissingImports({
  sources,
  remappings = [],
}: Pick<PlainSources, 'sources' | 'remappings'>): readonly MissingImport[] {
  const all = remappings.flatMap((text) => readRemapping(text) ?? []);
  const missing = new Map<string, MissingImport>();
  let imports = 0;
  for (const [from, text] of Object.entries(sources)) {
    const names = new Set(importsIn(text));
    imports += names.size;
    if (imports > MAX_IMPORTS) {
      throw new PlainSourcesError('sources', `The sources have more than ${MAX_IMPORTS} imports.`);
    }
    if (names.size === 0) continue;
    const folder = from.split('/').slice(0, -1);
    const rules = all.filter(({ context }) => from.startsWith(context));
    for (const name of names) {
      const path = remap(resolveImport(name, folder), rules);
      if (Object.hasOwn(sources, path) || missing.has(path)) continue;
      missing.set(path, { name, from, path });
    }
  }
  return [...missing.values()];
}

/** Returns the names imported by a text. */
function importsIn(text: string): readonly string[] {
  const { code, strings } = readCode(text);
  return code.split(';').flatMap((statement) => {
    const start = statement.search(IMPORT);
    const place = start < 0 ? undefined : /"(\d+)"/.exec(statement.slice(start))?.[1];
    return place === undefined ? [] : [strings[Number(place)] ?? ''];
  });
}

interface Remapping {
  readonly context: string;
  readonly prefix: string;
  readonly target: string;
}

function readRemapping(text: string): Remapping | undefined {
  const equals = text.indexOf('=');
  if (equals < 1) return undefined;
  const left = text.slice(0, equals);
  const colon = left.indexOf(':');
  return {
    context: colon < 0 ? '' : left.slice(0, colon),
    prefix: left.slice(colon + 1),
    target: text.slice(equals + 1),
  };
}

/**
 * Applies the best remapping of a source: the longest context wins, then the longest prefix, then the last
 * one (Solidity documentation, "Import Remapping").
 */
function remap(path: string, rules: readonly Remapping[]): string {
  let best: Remapping | undefined;
  for (const rule of rules) {
    if (!path.startsWith(rule.prefix)) continue;
    const isBetter =
      best === undefined ||
      rule.context.length > best.context.length ||
      (rule.context.length === best.context.length && rule.prefix.length >= best.prefix.length);
    if (isBetter) best = rule;
  }
  return best === undefined ? path : best.target + path.slice(best.prefix.length);
}

/**
 * Resolves an import: a direct one is a source path; one that starts with a dot is relative to the folder of
 * the importing source.
 */
function resolveImport(name: string, folder: readonly string[]): string {
  if (!/^\.{1,2}\//.test(name)) return name;
  const base = [...folder];
  for (const segment of name.split('/')) {
    if (segment === '.' || segment === '') continue;
    if (segment === '..') base.pop();
    else base.push(segment);
  }
  return base.join('/');
}

/**
 * Returns the version range in a source's `pragma solidity`, as written; undefined if there is none. It is
 * what the author allows, not the version that was used.
 */
export function pragmaOf(text: string): string | undefined {
  return /(?<![\w$.])pragma\s{1,64}solidity\s{1,64}([^;]{1,200});/
    .exec(readCode(text).code)?.[1]
    ?.trim();
}

/**
 * Replaces each comment in a text with a space and each string with the index of its value, so that their
 * content is not taken for code. Runs in linear time on any text.
 */
function readCode(text: string): { readonly code: string; readonly strings: readonly string[] } {
  const parts: string[] = [];
  const strings: string[] = [];
  let kept = 0;
  const replace = (from: number, to: number, by: string): number => {
    parts.push(text.slice(kept, from), by);
    return (kept = to);
  };
  for (let at = 0; at < text.length;) {
    const character = text[at];
    if (character === '"' || character === "'") {
      const end = endOfString(text, at);
      strings.push(text.slice(at + 1, end - 1));
      at = replace(at, end, `"${strings.length - 1}"`);
    } else if (character === '/' && (text[at + 1] === '/' || text[at + 1] === '*')) {
      at = replace(at, endOfComment(text, at), ' ');
    } else at += 1;
  }
  parts.push(text.slice(kept));
  return { code: parts.join(''), strings };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === text[start] || text[at] === '\n') return at + 1;
  }
  return text.length;
}

function endOfComment(text: string, start: number): number {
  const isLine = text[start + 1] === '/';
  const end = text.indexOf(isLine ? '\n' : '*/', start + 2);
  if (end < 0) return text.length;
  return isLine ? end : end + 2;
}
