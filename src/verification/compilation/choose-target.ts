import { readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { pushedBytes } from '../../bytecode/instructions.ts';
import { type CompilationTarget } from '../../solidity/standard-json.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type CompilationTask } from './compilation-task.ts';
import { type ContractCompiler } from './compile-contract.ts';
import { compileAllBytecode } from './compile-codes.ts';
import { compilerErrorFailure } from './compiler-errors.ts';
import { type JobReader } from './job-reader.ts';
import { VerificationFailure } from '../verification-failure.ts';

const NAMES_SHOWN = 20;
const DIGITS_A_BYTE = 2;

/**
 * Returns the contract of a compilation whose runtime bytecode is closest to the one on chain: the contract
 * whose metadata hash that bytecode ends with, otherwise the one with the most common selectors and the most
 * equal bytes at equal offsets. Libraries, immutables and metadata hashes are a few bytes among thousands. The
 * chosen target is verified like any other.
 * @throws VerificationFailure invalid_compilation_target if two contracts are equally close, or there is
 * none; compiler_error.
 */
export async function chooseTarget(
  parts: { readonly compilers: ContractCompiler; readonly reader: JobReader },
  task: CompilationTask,
  onChain: Uint8Array,
  signal: AbortSignal,
): Promise<CompilationTarget> {
  const { errors, codes } = await compileAllBytecode(parts, task, signal);
  if (errors.length > 0) throw compilerErrorFailure(errors);
  const digits = Buffer.from(onChain).toString('hex');
  const code = toDigitPairs(digits);
  const selectors = readSelectors(Buffer.from(onChain));
  const ranked = codes
    .map(({ target, runtime }) => {
      const end = metadataAuxdataOf(runtime);
      const isNamed = end !== undefined && digits.endsWith(end);
      // Bytes agree only under the deployer's settings, selectors under any.
      const shared = overlapOf(readSelectors(toBytes(runtime)), selectors);
      return {
        target,
        same: (isNamed ? NAMED_WEIGHT : 0) + shared + similarityOf(toDigitPairs(runtime), code),
      };
    })
    .sort((left, right) => right.same - left.same);
  const [best, second] = ranked;
  if (best === undefined) {
    throw new VerificationFailure(
      'invalid_compilation_target',
      'The sources hold no contract that can be deployed.',
    );
  }
  if (second === undefined || second.same < best.same) return best.target;
  const equal = ranked
    .filter(({ same }) => same === best.same)
    .slice(0, NAMES_SHOWN)
    .map(({ target: { path, name } }) => printableText(`${path}:${name}`));
  throw new VerificationFailure(
    'invalid_compilation_target',
    `Several contracts of these sources could be the one on chain; name one of them: ${equal.join(', ')}.`,
    { data: { contracts: equal } },
  );
}

/** Outweighs any similarity. */
const NAMED_WEIGHT = 2;

/** Library placeholders take the place of 40 digits. */
const toBytes = (runtime: string): Buffer =>
  Buffer.from(runtime.replaceAll(/[^0-9a-f]/gi, '0'), 'hex');

const PUSH4 = 0x63;

/**
 * Returns the four-byte values that a bytecode pushes: its selectors, and few others. A submission may have
 * thousands of contracts, so no instruction is allocated.
 */
function readSelectors(code: Buffer): ReadonlySet<number> {
  const found = new Set<number>();
  for (let at = 0; at < code.length;) {
    const width = pushedBytes(code[at] ?? 0);
    if (code[at] === PUSH4 && at + width < code.length) found.add(code.readUInt32BE(at + 1));
    at += 1 + width;
  }
  return found;
}

/** Returns the share of common members, from 0 to 1. */
function overlapOf(left: ReadonlySet<number>, right: ReadonlySet<number>): number {
  const common = [...left].filter((each) => right.has(each)).length;
  return common / Math.max(left.size + right.size - common, 1);
}

/** Returns the hex digit pairs of a bytecode, including library placeholders, as one number each. */
export function toDigitPairs(digits: string): Uint16Array {
  const pairs = new Uint16Array(Math.floor(digits.length / DIGITS_A_BYTE));
  Buffer.from(pairs.buffer).write(digits, 'latin1');
  return pairs;
}

/** Far more than the longest auxdata that a compiler writes. */
const MAX_AUXDATA_BYTES = 256;

/**
 * Returns the trailing auxdata of a runtime bytecode in hex; undefined if it has no metadata hash. Bytecode
 * with the same auxdata comes from the same contract, however few of the other bytes agree.
 */
export function metadataAuxdataOf(runtime: string): string | undefined {
  const length = Number.parseInt(runtime.slice(-4), 16) + 2;
  if (!(length <= MAX_AUXDATA_BYTES)) return undefined;
  const end = runtime.slice(-DIGITS_A_BYTE * length);
  return readTrailingAuxdata(Buffer.from(end, 'hex'))?.metadataHash && end;
}

/** Returns the similarity of two bytecodes, from 0 to 1: the share of equal bytes. */
export function similarityOf(left: Uint16Array, right: Uint16Array): number {
  let same = 0;
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) if (left[at] === right[at]) same += 1;
  return same / Math.max(left.length, right.length, 1);
}
