import { type V2Contract } from '../../../client/src/schemas.ts';
import { isMembers, type Members } from '../../../src/lib/members.ts';
import { signatureOf } from '../../../src/solidity/signature-text.ts';

/** An ABI entry as a source declaration. */
export interface AbiSignature {
  readonly kind: string;
  readonly text: string;
  /** The selector of a function or an error, the first topic of an event; absent if it has none. */
  readonly hash?: string;
  /** For a function: whether it is read-only. */
  readonly isReading?: boolean;
}

/** Signature hashes, as the API returns them. */
export type SignatureHashes = NonNullable<V2Contract['signatures']>;

const PARAMETERS_DEPTH = 8;
/** Maximum length of an entry: a type of a few words may expand to megabytes. */
const ENTRY_CHARACTERS = 990;

/** Appends words to a text up to its limit. */
class Words {
  text = '';

  get isFull(): boolean {
    return this.text.length >= ENTRY_CHARACTERS;
  }

  add(word: string): void {
    this.text += word.slice(0, ENTRY_CHARACTERS + 1 - this.text.length);
  }

  /** A truncated text ends with a marker. */
  end(): string {
    return this.text.length > ENTRY_CHARACTERS
      ? `${this.text.slice(0, ENTRY_CHARACTERS)}…`
      : this.text;
  }
}

/**
 * The first entries of an ABI in readable form, in order. Malformed entries are left out.
 * @param limit maximum number
 * @param hashes hashes of its signatures, if known
 */
export function describeAbi(
  abi: unknown,
  limit: number,
  hashes: SignatureHashes = {},
): AbiSignature[] {
  const known = new Map<string, string>([
    ...(hashes.function ?? []).map(
      (each) => [`function ${each.signature}`, each.signatureHash4] as const,
    ),
    ...(hashes.error ?? []).map(
      (each) => [`error ${each.signature}`, each.signatureHash4] as const,
    ),
    ...(hashes.event ?? []).map(
      (each) => [`event ${each.signature}`, each.signatureHash32] as const,
    ),
  ]);
  return takeEntries(abi, limit).map((entry) => {
    const kind = textOf(entry['type'], 'function');
    const mutability = textOf(entry['stateMutability'], '');
    const words = new Words();
    words.add(`${textOf(entry['name'], kind)}(`);
    addParameters(words, entry['inputs']);
    words.add(')');
    if (!['', 'nonpayable'].includes(mutability)) words.add(` ${mutability}`);
    const outputs = entry['outputs'];
    if (Array.isArray(outputs) && outputs.some(isMembers)) {
      words.add(' → ');
      addParameters(words, outputs);
    }
    // An anonymous event has no topic of its own.
    const hash =
      entry['anonymous'] === true ? undefined : known.get(`${kind} ${signatureOf(entry) ?? ''}`);
    return {
      kind: kind.slice(0, ENTRY_CHARACTERS),
      text: words.end(),
      ...(hash !== undefined && { hash }),
      ...(kind === 'function' && { isReading: ['view', 'pure'].includes(mutability) }),
    };
  });
}

function takeEntries(abi: unknown, limit: number): Members[] {
  const entries: Members[] = [];
  for (const entry of Array.isArray(abi) ? (abi as unknown[]) : []) {
    if (entries.length === limit) break;
    if (isMembers(entry)) entries.push(entry);
  }
  return entries;
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

function addParameters(words: Words, value: unknown): void {
  addList(words, value, (each) => {
    addType(words, each, 0);
    if (each['indexed'] === true) words.add(' indexed');
    const name = textOf(each['name'], '');
    if (name !== '') words.add(` ${name}`);
  });
}

function addList(words: Words, value: unknown, add: (each: Members) => void): void {
  let isFirst = true;
  for (const each of Array.isArray(value) ? (value as unknown[]) : []) {
    if (words.isFull) {
      words.add('…');
      return;
    }
    if (!isMembers(each)) continue;
    if (!isFirst) words.add(', ');
    isFirst = false;
    add(each);
  }
}

/** A tuple as the types of its members. */
function addType(words: Words, parameter: Members, depth: number): void {
  const type = textOf(parameter['type'], '?');
  const components: unknown = parameter['components'];
  if (!type.startsWith('tuple') || !Array.isArray(components) || depth > PARAMETERS_DEPTH) {
    words.add(type);
    return;
  }
  words.add('(');
  addList(words, components, (each) => addType(words, each, depth + 1));
  words.add(`)${type.slice('tuple'.length)}`);
}
