import { createHash } from 'node:crypto';
import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { type ComparedCodes, type VerificationFailure } from '../verification-failure.ts';

/** One of two compared bytecodes: its size, its hash and a window of its bytes. */
export interface ComparedCode {
  readonly bytes: number;
  /** Hash of the whole bytecode. Node's native hash takes a hundredth of the time of Keccak here. */
  readonly sha256: Hex;
  /** The bytes from the comparison's `offset` on; the whole bytecode if it is small. */
  readonly window: Hex;
}

/** A comparison of two bytecodes, as stored with a failed job. */
export interface Comparison {
  /** Start of the windows in both bytecodes. */
  readonly offset: number;
  readonly recompiled?: ComparedCode;
  readonly onChain?: ComparedCode;
}

/** The data stored with a failed job: machine-readable facts and the compared bytecodes. */
export interface FailureRecord {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly runtime?: Comparison;
  readonly creation?: Comparison;
  readonly creationTransactionHash?: Hex;
}

/** Total size of all windows of a job, in bytes. Both runtime bytecodes of most contracts fit in completely. */
export const WINDOWS_MAX_BYTES = 65_536;
/** Share of a window before the first difference. */
const BEFORE_DIFFERENCE = 1 / 4;

const FACTS_MAX_CHARACTERS = 65_536;
const TEXT_MAX_CHARACTERS = 4000;
const LIST_MAX = 500;

/** Builds the record of a failure. Its size is bounded; the time is linear in the length of the bytecodes. */
export function buildFailureRecord({
  data,
  codes,
}: Pick<VerificationFailure, 'data' | 'codes'>): FailureRecord {
  const { recompiledRuntimeCode, onchainRuntimeCode } = codes;
  const { recompiledCreationCode, onchainCreationCode, creationTransactionHash } = codes;
  const runtime = compare(
    [recompiledRuntimeCode, onchainRuntimeCode],
    differenceIn(data['runtime']),
    WINDOWS_MAX_BYTES,
  );
  const creation = compare(
    [recompiledCreationCode, onchainCreationCode],
    differenceIn(data['creation']),
    WINDOWS_MAX_BYTES - windowBytes(runtime),
  );
  return {
    data: boundFacts(data, { runtime, creation }),
    ...(runtime && { runtime }),
    ...(creation && { creation }),
    ...(creationTransactionHash && { creationTransactionHash }),
  };
}

/**
 * Returns the creation transaction of a record and the bytecodes that are stored completely, under the names
 * that clients know.
 */
export function completeBytecodes({
  runtime,
  creation,
  creationTransactionHash,
}: FailureRecord): ComparedCodes {
  const whole = (code: ComparedCode | undefined): Hex | undefined =>
    code !== undefined && isComplete(code) ? code.window : undefined;
  const codes = {
    recompiledRuntimeCode: whole(runtime?.recompiled),
    onchainRuntimeCode: whole(runtime?.onChain),
    recompiledCreationCode: whole(creation?.recompiled),
    onchainCreationCode: whole(creation?.onChain),
    creationTransactionHash,
  };
  return Object.fromEntries(Object.entries(codes).filter(([, code]) => code !== undefined));
}

/** Returns whether the window contains the whole bytecode. */
export function isComplete({ bytes, window }: ComparedCode): boolean {
  return hexBytes(window) === bytes;
}

const hexBytes = (hex: Hex): number => (hex.length - 2) / 2;

function windowBytes(comparison: Comparison | undefined): number {
  const { recompiled, onChain } = comparison ?? {};
  return hexBytes(recompiled?.window ?? '0x') + hexBytes(onChain?.window ?? '0x');
}

/** Returns the offset of the first unexplained difference, if the comparison reports one. */
function differenceIn(mismatch: unknown): number | undefined {
  const { firstDifference } = (mismatch ?? {}) as { readonly firstDifference?: unknown };
  return typeof firstDifference === 'number' ? firstDifference : undefined;
}

function compare(
  [recompiled, onChain]: readonly [Hex | undefined, Hex | undefined],
  firstDifference: number | undefined,
  budget: number,
): Comparison | undefined {
  if (recompiled === undefined && onChain === undefined) return undefined;
  const [left, right] = [recompiled ?? '0x', onChain ?? '0x'];
  const fits = hexBytes(left) + hexBytes(right) <= budget;
  const length = Math.floor(budget / (recompiled && onChain ? 2 : 1));
  const longest = Math.max(hexBytes(left), hexBytes(right));
  const begin =
    (firstDifference ?? firstDifferent(left, right)) - Math.floor(length * BEFORE_DIFFERENCE);
  const offset = fits ? 0 : Math.max(0, Math.min(begin, longest - length));
  const keep = (code: Hex): ComparedCode => ({
    bytes: hexBytes(code),
    sha256: `0x${createHash('sha256').update(hexToBytes(code)).digest('hex')}`,
    window: fits ? code : `0x${code.slice(2 + 2 * offset, 2 + 2 * (offset + length))}`,
  });
  return {
    offset,
    ...(recompiled !== undefined && { recompiled: keep(recompiled) }),
    ...(onChain !== undefined && { onChain: keep(onChain) }),
  };
}

/** Returns the offset of the first byte that differs, or the length of the shorter bytecode. */
function firstDifferent(left: Hex, right: Hex): number {
  const shorter = Math.min(left.length, right.length);
  let at = 2;
  while (at < shorter && left[at] === right[at]) at += 1;
  return Math.floor((at - 2) / 2);
}

/** Limits the length of texts and lists; keeps explained ranges only if a window shows them. */
function boundFacts(
  data: Readonly<Record<string, unknown>>,
  windows: Record<'runtime' | 'creation', Comparison | undefined>,
): Record<string, unknown> {
  const bounded = Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      const window = name === 'runtime' || name === 'creation' ? windows[name] : undefined;
      return [name, bound(explainedIn(value, window))] as const;
    }),
  );
  if (JSON.stringify(bounded).length <= FACTS_MAX_CHARACTERS) return bounded;
  // Anything still too long is an unexpected tree; its scalar members are enough.
  const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;
  const plain = (value: unknown): unknown =>
    isPlain(value) || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value as object).filter(([, each]) => isPlain(each)));
  const facts: Record<string, unknown> = {};
  let characters = 0;
  for (const [name, value] of Object.entries(bounded)) {
    const kept = plain(value);
    characters += name.length + JSON.stringify(kept ?? null).length;
    if (characters > FACTS_MAX_CHARACTERS) break;
    facts[name] = kept;
  }
  return facts;
}

/** Returns a mismatch with only the explained ranges inside the window. */
function explainedIn(value: unknown, comparison: Comparison | undefined): unknown {
  if (typeof value !== 'object' || value === null || !('explained' in value)) return value;
  const { explained } = value;
  if (!Array.isArray(explained) || comparison?.recompiled === undefined) return value;
  const { offset: from, recompiled } = comparison;
  const to = from + hexBytes(recompiled.window);
  const shown = (explained as { offset: number; length: number }[]).filter(
    ({ offset, length }) => offset + length > from && offset < to,
  );
  return { ...value, explained: shown };
}

function bound(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, TEXT_MAX_CHARACTERS);
  if (Array.isArray(value)) return value.slice(0, LIST_MAX).map(bound);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).slice(0, LIST_MAX);
  return Object.fromEntries(members.map(([name, each]) => [name, bound(each)]));
}
