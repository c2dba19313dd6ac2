import { isAddress } from '../lib/address-text.ts';
import { groupByPath } from './library-id.ts';
import { type StandardJsonInput } from './standard-json.ts';

/** What is said about a compilation beside its sources. What is left out stays at the compiler's own default. */
export interface SourceSettings {
  readonly optimizer?: { readonly enabled?: boolean; readonly runs?: number };
  /** As the compiler names it; `default` means the compiler's own. */
  readonly evmVersion?: string;
  readonly viaIR?: boolean;
  /** `path:Name`, or `Name` alone where one source declares it, → address. */
  readonly libraries?: Readonly<Record<string, string>>;
  /** `context:prefix=target`. */
  readonly remappings?: readonly string[];
}

/** Sources as they were written, with the settings that they were compiled with. */
export interface PlainSources extends SourceSettings {
  /** Path → text. */
  readonly sources: Readonly<Record<string, string>>;
  /** `Solidity` (default) or `Yul`. */
  readonly language?: string;
}

/** What of plain sources cannot be made an input of; the message is a sentence for people. */
export class PlainSourcesFault extends Error {
  override readonly name = 'PlainSourcesFault';
  /** The part that is at fault: `sources` or `libraries`. */
  readonly part: 'sources' | 'libraries';

  constructor(part: PlainSourcesFault['part'], message: string) {
    super(message);
    this.part = part;
  }
}

/** The runs that the optimizer of every version has in mind when nobody says a number. */
const DEFAULT_RUNS = 200;
/** What explorers and forms write for the EVM version that the compiler takes by itself. */
const OWN_EVM_VERSION = /^(?:|default|compiler default)$/i;

/** Whether a text means the EVM version that the compiler takes by itself. */
export function isOwnEvmVersion(text: string): boolean {
  return OWN_EVM_VERSION.test(text);
}

/**
 * The standard JSON input of sources and settings as explorers, forms and command lines ask for them. Only what is said is
 * written, so that the metadata is what tools write that leave defaults out; but for the optimizer, whose state tools
 * always write.
 * @throws PlainSourcesFault
 */
export function buildStandardJson({
  sources,
  language = 'Solidity',
  ...settings
}: PlainSources): StandardJsonInput {
  const paths = Object.keys(sources);
  if (paths.length === 0) throw new PlainSourcesFault('sources', 'There are no sources.');
  const { optimizer = {}, evmVersion = '', viaIR, libraries = {}, remappings = [] } = settings;
  const { enabled = false, runs = DEFAULT_RUNS } = optimizer;
  const ids = Object.entries(libraries);
  const places = ids.some(([id]) => !id.includes(':')) ? placesByName(sources) : undefined;
  const named = ids.map(([id, address]): [string, string] => [
    placeLibrary(id, places),
    requireAddress(id, address),
  ]);
  return {
    language,
    sources: Object.fromEntries(paths.map((path) => [path, { content: sources[path] ?? '' }])),
    settings: {
      optimizer: { enabled, runs },
      ...(!isOwnEvmVersion(evmVersion) && { evmVersion }),
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
  throw new PlainSourcesFault(
    'libraries',
    `The library ${shown(id)} needs an address: 0x and 40 hexadecimal digits.`,
  );
}

/** The paths of the sources that declare each name. */
function placesByName(sources: PlainSources['sources']): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const { path, name } of declarationsIn(sources)) {
    const known = places.get(name);
    if (known === undefined) places.set(name, [path]);
    else known.push(path);
  }
  return places;
}

/** A library's name with its path: as it is, or that of the one source that declares it. */
function placeLibrary(
  id: string,
  places: ReadonlyMap<string, readonly string[]> | undefined,
): string {
  if (id.includes(':')) return id;
  const [only, another] = places?.get(id) ?? [];
  if (only !== undefined && another === undefined) return `${only}:${id}`;
  throw new PlainSourcesFault(
    'libraries',
    only === undefined
      ? `No source declares the library ${shown(id)}; write it as path:Name.`
      : `Several sources declare the library ${shown(id)}; write it as path:Name.`,
  );
}

const SHOWN_CHARACTERS = 120;
const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_CHARACTERS));

/** A contract or library that a text declares; an interface and an abstract contract are never deployed. */
export interface Declaration {
  readonly path: string;
  readonly name: string;
}

const DECLARED = /(?<![\w$.])(?:contract|library)\s{1,64}([A-Za-z_$][\w$]{0,255})/g;
const ABSTRACT_BEFORE = /(?<![\w$.])abstract\s{1,64}$/;
const ABSTRACT_CHARACTERS = 80;

/** The contracts and libraries that the sources declare, in their order: what may have been deployed. */
export function declarationsIn(sources: PlainSources['sources']): readonly Declaration[] {
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
  /** As the import writes it. */
  readonly name: string;
  /** The source that imports it. */
  readonly from: string;
  /** The name under which the compiler looks for it, after remappings. */
  readonly path: string;
}

const IMPORT = /(?<![\w$.])import(?![\w$])/;

/** More than the imports of any project, each name counted once for each source. */
const MOST_IMPORTS = 20_000;

/**
 * The imports that are not among the sources, each source name once, in the order in which they stand. What comments and
 * strings hold is no import.
 * @throws PlainSourcesFault where the sources import too much to be looked through
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
    if (imports > MOST_IMPORTS) {
      throw new PlainSourcesFault('sources', `The sources have more than ${MOST_IMPORTS} imports.`);
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

/** What the imports of a text name. */
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

/** Of the rules that hold in a source: the longest context wins, then the longest prefix, then the last one (Solidity documentation, "Import Remapping"). */
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

/** A direct import is a source's name; one that begins with a dot is relative to the folder of the importing source. */
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
 * The version range of a source's `pragma solidity`, as it stands there; undefined where there is none. It is what an author
 * allows, not what compiled.
 */
export function pragmaOf(text: string): string | undefined {
  return /(?<![\w$.])pragma\s{1,64}solidity\s{1,64}([^;]{1,200});/
    .exec(readCode(text).code)?.[1]
    ?.trim();
}

/**
 * A text with a blank in place of each comment, and in place of each string the number of its value, so that nothing in them
 * is taken for code. Each character is looked at once, whatever a hostile text holds.
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
