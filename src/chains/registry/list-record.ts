import { isMembers, type Members } from '../../lib/members.ts';
import { type ChainRecord } from './chain-record.ts';

/** Fields that only the service may set; they are ignored in a list. */
const SERVICE_FIELDS = ['supported', 'monitored', 'contractFetchAddress', 'txRegex'] as const;

/** A record of a public chain list: a chain record without the service's own four fields. */
export type ListRecord = Omit<ChainRecord, (typeof SERVICE_FIELDS)[number]>;

/** Chain ids range from 1 to the largest integer that JSON readers agree on (2^53-1). */
export function isChainId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Nesting of `parent` in the public list is 3; a hostile list could nest until JSON.stringify overflows its stack. */
const MAX_DEPTH = 8;

const EXECUTABLE_SCHEME = /^(?:javascript|data|vbscript):/i;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Unknown values: the public list writes null or ''. */
const isUnknown = (value: unknown): boolean =>
  value === undefined || value === null || value === '';

function readText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('is not a string');
  return value;
}

/**
 * Whether a link in an `href` runs code in the page. Browsers skip spaces and control characters before a
 * scheme, and tabs and line breaks within it (URL standard, 4.4).
 */
export function isScriptUrl(link: string): boolean {
  return EXECUTABLE_SCHEME.test(link.replace(/[\p{Cc}\s]/gu, ''));
}

/** A link that a page may put in an `href`: any text except a scheme that {@link isScriptUrl}. */
function readLink(value: unknown): string {
  const text = readText(value);
  if (isScriptUrl(text)) throw new TypeError('is a link that runs code');
  return text;
}

function readCount(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new TypeError('is not an integer from 0 to 2^53-1');
  }
  return value as number;
}

function readArray<T>(value: unknown, readItem: (item: unknown) => T | undefined): readonly T[] {
  if (!Array.isArray(value)) throw new TypeError('is not an array');
  return value.flatMap((item: unknown, index) => {
    try {
      const read = isUnknown(item) ? undefined : readItem(item);
      return read === undefined ? [] : [read];
    } catch (error) {
      throw new TypeError(`[${index}] ${(error as Error).message}`, { cause: error });
    }
  });
}

/**
 * An object with only known members keeps its identity, so its bytes stay those of the source; others are
 * rebuilt from their known members.
 */
function keepMembers<T>(value: Members, names: readonly string[]): T {
  const entries = Object.entries(value);
  const kept = entries.filter(([name, member]) => names.includes(name) && !isUnknown(member));
  return (kept.length === entries.length ? value : Object.fromEntries(kept)) as T;
}

function readNativeCurrency(value: unknown): ListRecord['nativeCurrency'] {
  if (!isMembers(value)) throw new TypeError('is not an object');
  if (isUnknown(value.name) || isUnknown(value.symbol)) return undefined;
  readText(value.name);
  readText(value.symbol);
  readCount(value.decimals);
  return keepMembers(value, ['name', 'symbol', 'decimals']);
}

function readExplorer(value: unknown): NonNullable<ListRecord['explorers']>[number] | undefined {
  if (!isMembers(value)) throw new TypeError('is not an object');
  if (isUnknown(value.name) || isUnknown(value.url)) return undefined;
  readText(value.name);
  readLink(value.url);
  if (!isUnknown(value.icon)) readText(value.icon);
  // `none` is the public list's value for an explorer without standard paths.
  const standard = isUnknown(value.standard) ? 'none' : readText(value.standard);
  const whole = value.standard === standard ? value : { ...value, standard };
  return keepMembers(whole, ['name', 'url', 'standard', 'icon']);
}

function readFeature(value: unknown): { readonly name: string } | undefined {
  if (!isMembers(value)) throw new TypeError('is not an object');
  if (isUnknown(value.name)) return undefined;
  readText(value.name);
  return keepMembers(value, ['name']);
}

function readEns(value: unknown): ListRecord['ens'] {
  if (!isMembers(value)) throw new TypeError('is not an object');
  if (isUnknown(value.registry)) return undefined;
  if (!ADDRESS.test(readText(value.registry))) throw new TypeError('.registry is not an address');
  return keepMembers(value, ['registry']);
}

function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit === 0) return 1;
  return 1 + Math.max(0, ...Object.values(value).map((member) => depthOf(member, limit - 1)));
}

function readParent(value: unknown): ListRecord['parent'] {
  if (!isMembers(value)) throw new TypeError('is not an object');
  if (depthOf(value, MAX_DEPTH) > MAX_DEPTH) throw new TypeError('is nested too deeply');
  return value;
}

function readChainId(value: unknown): number {
  if (!isChainId(value)) throw new TypeError('is not an integer from 1 to 2^53-1');
  return value;
}

/**
 * Reader of each field of the public list. It returns undefined for unknown values and throws TypeError for
 * invalid ones.
 */
const READERS: { [Field in keyof ListRecord]-?: (value: unknown) => ListRecord[Field] } = {
  name: readText,
  chain: readText,
  network: readText,
  icon: readText,
  rpc: (value) => readArray(value, readText),
  faucets: (value) => readArray(value, readLink),
  nativeCurrency: readNativeCurrency,
  infoURL: readLink,
  shortName: readText,
  chainId: readChainId,
  networkId: readCount,
  slip44: readCount,
  ens: readEns,
  explorers: (value) => readArray(value, readExplorer),
  title: readText,
  status: readText,
  features: (value) => readArray(value, readFeature),
  parent: readParent,
  redFlags: (value) => readArray(value, readText),
};

const FIELDS = Object.entries(READERS);
const KNOWN = new Set<string>([...Object.keys(READERS), ...SERVICE_FIELDS]);

/** Names of a record's own members that no chain record has, such as a field that the public list gained later. */
export function unknownFieldsOf(value: Members): readonly string[] {
  return Object.keys(value).filter((name) => !KNOWN.has(name));
}

/**
 * Reads one record of a public chain list. Unknown values (null, '') become absent; everything else stays as
 * in the source, including key order and odd Unicode. Fields that are not part of a chain record are dropped,
 * because the published shape is frozen; so are the service's own fields, which a list cannot know.
 * @throws TypeError that states which field is invalid and why
 */
export function readListRecord(value: unknown): ListRecord {
  if (!isMembers(value)) throw new TypeError('the record is not an object');
  const record: Record<string, unknown> = {};
  for (const [field, read] of FIELDS) {
    const given = Object.hasOwn(value, field) ? value[field] : undefined;
    try {
      const absent = field === 'rpc' ? [] : undefined;
      const known = isUnknown(given) ? absent : read(given);
      if (known !== undefined) record[field] = known;
    } catch (error) {
      const what = (error as Error).message;
      throw new TypeError(`${field}${/^[[.]/.test(what) ? '' : ' '}${what}`, { cause: error });
    }
  }
  if (record.chainId === undefined) throw new TypeError('chainId is missing');
  if (record.name === undefined) throw new TypeError('name is missing');
  return record as unknown as ListRecord;
}
