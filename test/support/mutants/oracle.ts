import { AbiParameters } from 'ox';
import { type CompiledSample } from '../bytecode/compiled-suite.ts';

// Independent implementation of the match rules from their specification (docs/matching.md) and from the
// compiler's output alone. It shares no function with src/bytecode, so that both do not make the same error.

/** On-chain bytecode that somebody claims to be a contract's. */
export interface ClaimedCodes {
  readonly address: string;
  readonly runtime: Buffer;
  readonly creation: Buffer;
}

type Level = 'full' | 'partial' | null;

/** The best verdict that a claim may get. */
export interface OracleVerdict {
  readonly match: Level;
  readonly runtimeMatch: Level;
  readonly creationMatch: Level;
}

/**
 * Types of the immutables of the suite's contract, in declaration order: how many leading or trailing zero
 * bytes they have.
 */
const IMMUTABLE_TYPES: readonly ((value: Buffer) => boolean)[] = [
  () => true,
  (value) => value.subarray(0, 12).every((byte) => byte === 0),
  (value) => value.subarray(4).every((byte) => byte === 0),
];
const HASH_HEADS = ['64697066735822 1220', '65627a7a72305820', '65627a7a72315820'].map((head) =>
  Buffer.from(head.replace(' ', ''), 'hex'),
);
const HASH_BYTES = 32;

interface Template {
  readonly bytes: Buffer;
  /** Offsets of metadata hashes. */
  readonly hashes: readonly number[];
  readonly libraries: ReadonlyMap<string, readonly number[]>;
  readonly immutables: ReadonlyMap<string, readonly number[]>;
}

const bytesOf = (object: string): Buffer =>
  Buffer.from(object.replaceAll(/__.{38}/g, '0'.repeat(40)), 'hex');

/** A hash is a hash prefix followed by bytes that change with the metadata. */
function findHashes(code: Buffer, edited: Buffer): number[] {
  const found: number[] = [];
  for (const head of HASH_HEADS) {
    for (let at = code.indexOf(head); at >= 0; at = code.indexOf(head, at + 1)) {
      const start = at + head.length;
      const ours = code.subarray(start, start + HASH_BYTES);
      if (!ours.equals(edited.subarray(start, start + HASH_BYTES))) found.push(start);
    }
  }
  return found;
}

function templateOf(
  { output, edited }: CompiledSample,
  which: 'bytecode' | 'deployedBytecode',
): Template {
  const compiled = output.evm[which];
  const bytes = bytesOf(compiled.object);
  const libraries = new Map<string, readonly number[]>();
  for (const names of Object.values(compiled.linkReferences ?? {})) {
    for (const [name, references] of Object.entries(names)) {
      libraries.set(
        name,
        references.map(({ start }) => start),
      );
    }
  }
  const immutables = new Map(
    Object.entries(compiled.immutableReferences ?? {}).map(([id, references]) => [
      id,
      references.map(({ start }) => start),
    ]),
  );
  return {
    bytes,
    hashes: findHashes(bytes, bytesOf(edited.evm[which].object)),
    libraries,
    immutables,
  };
}

/** Returns the one value at all offsets, or undefined if they differ. */
function oneValue(code: Buffer, starts: readonly number[], length: number): Buffer | undefined {
  const [first = 0] = starts;
  const value = code.subarray(first, first + length);
  return starts.every((start) => value.equals(code.subarray(start, start + length)))
    ? value
    : undefined;
}

function levelOf(template: Template, filled: Buffer, code: Buffer): Level {
  let replaced = false;
  for (const start of template.hashes) {
    const theirs = code.subarray(start, start + HASH_BYTES);
    replaced ||= !theirs.equals(filled.subarray(start, start + HASH_BYTES));
    theirs.copy(filled, start);
  }
  if (!filled.equals(code)) return null;
  return replaced || template.hashes.length === 0 ? 'partial' : 'full';
}

function judgeRuntime(sample: CompiledSample, { address, runtime }: ClaimedCodes, typed: boolean) {
  const template = templateOf(sample, 'deployedBytecode');
  const none = { level: null, libraries: new Map<string, Buffer>() };
  if (runtime.length !== template.bytes.length) return none;
  const filled = Buffer.from(template.bytes);
  const own = Buffer.from(address.slice(2), 'hex');
  const libraries = new Map<string, Buffer>();
  for (const [name, starts] of template.libraries) {
    const value = oneValue(runtime, starts, own.length);
    if (value === undefined) return none;
    libraries.set(name, value);
    for (const start of starts) value.copy(filled, start);
  }
  const ids = [...template.immutables.keys()].sort((left, right) => Number(left) - Number(right));
  for (const [id, starts] of template.immutables) {
    const value = oneValue(runtime, starts, 32);
    if (value === undefined) return none;
    if (id === 'library_deploy_address') {
      const word = Buffer.concat([Buffer.alloc(12), own]);
      if (!value.equals(word)) return none;
    } else if (typed && IMMUTABLE_TYPES[ids.indexOf(id)]?.(value) === false) return none;
    for (const start of starts) value.copy(filled, start);
  }
  if (template.bytes.subarray(0, 23).toString('hex') === `73${'00'.repeat(20)}3014`) {
    own.copy(filled, 1);
  }
  return { level: levelOf(template, filled, runtime), libraries };
}

function areStrict(sample: CompiledSample, data: Buffer): boolean {
  const inputs = sample.output.abi?.find(({ type }) => type === 'constructor')?.inputs ?? [];
  if (inputs.length === 0) return data.length === 0;
  try {
    const hex = `0x${data.toString('hex')}` as const;
    // Invalid UTF-8 is honest: as bytes it has the same encoding.
    const text = JSON.stringify(inputs).replaceAll('"string"', '"bytes"');
    const plain: readonly { readonly type: string }[] = JSON.parse(text) as typeof inputs;
    return AbiParameters.encode(plain, AbiParameters.decode(plain, hex)) === hex;
  } catch {
    return false;
  }
}

function judgeCreation(
  sample: CompiledSample,
  { creation }: ClaimedCodes,
  linked: ReadonlyMap<string, Buffer> | undefined,
): Level {
  const template = templateOf(sample, 'bytecode');
  const code = creation.subarray(0, template.bytes.length);
  const filled = Buffer.from(template.bytes);
  if (code.length < filled.length) return null;
  for (const [name, starts] of template.libraries) {
    const value = oneValue(code, starts, 20);
    const other = linked?.get(name);
    if (value === undefined || (other !== undefined && !other.equals(value))) return null;
    for (const start of starts) value.copy(filled, start);
  }
  if (!areStrict(sample, creation.subarray(filled.length))) return null;
  return levelOf(template, filled, code);
}

const RANK = [null, 'partial', 'full'] as const;

/** Returns whether a level is better than another. */
export const saysMore = (left: Level, right: Level): boolean =>
  RANK.indexOf(left) > RANK.indexOf(right);

/** @param typed whether values of immutables must be valid for their types */
export function consultOracle(
  sample: CompiledSample,
  claimed: ClaimedCodes,
  typed: boolean,
): OracleVerdict {
  const none = { match: null, runtimeMatch: null, creationMatch: null };
  const untyped = judgeRuntime(sample, claimed, false);
  // If the runtime bytecode is known and does not match, there is no match, whatever the creation.
  if (untyped.level === null) return none;
  const creationMatch = judgeCreation(sample, claimed, untyped.libraries);
  // A constructor of the contract itself wrote the values: all are accepted.
  const isProven = creationMatch !== null || !typed;
  const runtimeMatch = isProven ? untyped.level : judgeRuntime(sample, claimed, typed).level;
  if (runtimeMatch === null) return none;
  const match = saysMore(creationMatch, runtimeMatch) ? creationMatch : runtimeMatch;
  return { match, runtimeMatch, creationMatch };
}
