// The public chain list: embedded, fetched, validated, stored, and replaced by newer ones.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { FullmatchError, messageOf } from '../../errors.ts';
import { packageFile } from '../../lib/package-file.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type Finding } from '../registry/finding.ts';
import { describeSourceFault, displaySource } from './source-name.ts';
import {
  isChainId,
  readListRecord,
  unknownFieldsOf,
  type ListRecord,
} from '../registry/list-record.ts';

/** A public chain list as read: its valid records and what was quarantined. */
export interface ChainList {
  /** In the source's order; every chainId occurs once. */
  readonly records: readonly ListRecord[];
  /** One finding for each invalid record; the rest of the list is used. */
  readonly quarantined: readonly Finding[];
  /** `embedded`, a URL, or the path of the operator's file. */
  readonly source: string;
  /** SHA-256 of the list's text as lower-case hex; identifies the list. */
  readonly sha256: string;
  /** Field names in the list that a chain record does not have, sorted. */
  readonly ignoredFields?: readonly string[];
  /** Id of the stored list; absent for a list that was not synced. */
  readonly snapshotId?: number;
}

const EMBEDDED_LIST = packageFile('generated/public-chain-list.json');

/** The public list of 2026 has 2,509 records; each invalid one costs a finding. */
const MAX_RECORDS = 10_000;

/**
 * Maximum JSON values in a list's text; that of 2026 has 58,000. Parsing blocks the event loop in proportion
 * to them.
 */
const MAX_VALUES = 150_000;

/** The longest record of 2026 has 1,300 characters of JSON. Work on a record is proportional to its size. */
const MAX_RECORD_CHARACTERS = 20_000;

const BRACE = 0x7b;
const BRACKET = 0x5b;
const COMMA = 0x2c;

/** Maximum characters of a field name in a message. */
const FIELD_NAME_CHARACTERS = 60;

let embedded: Promise<ChainList> | undefined;

/**
 * The public chain list that ships with the project (made by scripts/build-public-list.ts). A process reads
 * it once: a reload keeps the list of its version, even after an upgrade replaced the file.
 * @throws FullmatchError invalid_chain_list
 */
export function readEmbeddedList(): Promise<ChainList> {
  embedded ??= readListText(EMBEDDED_LIST, 'embedded').then((text) =>
    parseChainList(text, 'embedded'),
  );
  embedded.catch(() => (embedded = undefined));
  return embedded;
}

/**
 * The operator's own list: a JSON array of chain records in the public list's format.
 * @throws FullmatchError invalid_chain_list
 */
export async function readListFile(path: string): Promise<ChainList> {
  return parseChainList(await readListText(path, path), path);
}

async function readListText(path: string | URL, source: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const mend =
      source === 'embedded'
        ? 'run `npm run build:list`'
        : 'name a readable JSON file in registry.list';
    throw refusal(source, `cannot be read; ${mend}`, error);
  }
}

function refusal(source: string, fault: string, cause?: unknown): FullmatchError {
  return new FullmatchError('invalid_chain_list', ...describeSourceFault(source, fault, cause));
}

/** Counts opening brackets and commas, including those within strings: an upper bound of the number of values. */
function countValues(text: string): number {
  let values = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === BRACE || character === BRACKET || character === COMMA) values += 1;
  }
  return values;
}

function parseJson(text: string, source: string): readonly unknown[] {
  if (countValues(text) > MAX_VALUES) {
    throw refusal(source, `holds more than ${MAX_VALUES} values`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  } catch (error) {
    throw refusal(source, 'is not JSON, or was cut off', error);
  }
  if (!Array.isArray(value)) throw refusal(source, 'is not a JSON array of chain records');
  if (value.length === 0) throw refusal(source, 'is empty');
  if (value.length > MAX_RECORDS) throw refusal(source, `holds more than ${MAX_RECORDS} records`);
  return value;
}

function chainIdOf(value: unknown): number | undefined {
  const chainId: unknown =
    typeof value === 'object' && value !== null && 'chainId' in value ? value.chainId : undefined;
  return isChainId(chainId) ? chainId : undefined;
}

/** Two records with one id leave open which chain it is, so no record of such a list can be trusted. */
function refuseDuplicates(values: readonly unknown[], source: string): void {
  const seen = new Map<number, number>();
  for (const [index, value] of values.entries()) {
    const chainId = chainIdOf(value);
    if (chainId === undefined) continue;
    const first = seen.get(chainId);
    if (first !== undefined) {
      throw refusal(source, `holds chain ${chainId} twice, in records ${first} and ${index}`);
    }
    seen.set(chainId, index);
  }
}

function quarantine(value: unknown, index: number, source: string, error: unknown): Finding {
  const chainId = chainIdOf(value);
  const who = chainId === undefined ? '' : ` (chain ${chainId})`;
  return {
    level: 'warning',
    code: 'list_record_quarantined',
    ...(chainId === undefined ? {} : { chainId }),
    message: `Record ${index}${who} of the chain list ${displaySource(source)} is skipped: ${messageOf(error)}.`,
  };
}

/**
 * Reads a chain list. `source` names it in messages.
 * @throws FullmatchError invalid_chain_list if the text is not JSON, not an array, empty, too long, contains
 * an id twice or no valid record: such a list is refused as a whole. Individual invalid records are
 * quarantined.
 */
export function parseChainList(text: string, source: string): ChainList {
  const values = parseJson(text, source);
  refuseDuplicates(values, source);
  const records: ListRecord[] = [];
  const quarantined: Finding[] = [];
  const ignored = new Set<string>();
  for (const [index, value] of values.entries()) {
    try {
      const record = readListRecord(value);
      if (JSON.stringify(record).length > MAX_RECORD_CHARACTERS) {
        throw new TypeError(`is longer than ${MAX_RECORD_CHARACTERS} characters`);
      }
      records.push(record);
      for (const name of unknownFieldsOf(value as Record<string, unknown>)) ignored.add(name);
    } catch (error) {
      quarantined.push(quarantine(value, index, source, error));
    }
  }
  if (records.length === 0) {
    const first = quarantined[0]?.message ?? '';
    throw refusal(source, `has no valid record; the first problem: ${first}`);
  }
  const sha256 = createHash('sha256').update(text).digest('hex');
  const ignoredFields = [...ignored]
    .sort()
    .map((name) => printableText(name, FIELD_NAME_CHARACTERS));
  return {
    records,
    quarantined,
    source,
    sha256,
    ...(ignored.size > 0 ? { ignoredFields } : {}),
  };
}
