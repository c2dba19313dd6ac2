import { readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { type CompilationTarget } from '../../solidity/standard-json.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type CompilationTask } from './compilation-task.ts';
import { type ContractCompiler } from './compile-contract.ts';
import { compileCodes } from './compile-codes.ts';
import { refusedByCompiler } from './compiler-errors.ts';
import { type JobReader } from './job-reader.ts';
import { VerificationFailure } from '../verification-failure.ts';

const NAMES_SHOWN = 20;
const DIGITS_A_BYTE = 2;

/**
 * The contract of a compilation whose runtime code is nearest to a code: the one whose metadata the code names, or else as many
 * bytes as may be are the same in the same places. Libraries, immutables and metadata hashes are some bytes among thousands. What is chosen is judged like every
 * other target.
 * @throws VerificationFailure invalid_compilation_target where two are as near, or there is none; compiler_error.
 */
export async function chooseTarget(
  parts: { readonly compilers: ContractCompiler; readonly reader: JobReader },
  task: CompilationTask,
  onChain: Uint8Array,
  signal: AbortSignal,
): Promise<CompilationTarget> {
  const { errors, codes } = await compileCodes(parts, task, signal);
  if (errors.length > 0) throw refusedByCompiler(errors);
  const digits = Buffer.from(onChain).toString('hex');
  const code = toPairs(digits);
  const ranked = codes
    .map(({ target, runtime }) => {
      const end = metadataEndOf(runtime);
      const isNamed = end !== undefined && digits.endsWith(end);
      return { target, same: Number(isNamed) + countSame(toPairs(runtime), code) };
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

/** The pairs of digits of a code in hex, placeholders of libraries included, one number each. */
export function toPairs(digits: string): Uint16Array {
  const pairs = new Uint16Array(Math.floor(digits.length / DIGITS_A_BYTE));
  Buffer.from(pairs.buffer).write(digits, 'latin1');
  return pairs;
}

/** The longest auxdata that a compiler writes is far shorter. */
const MOST_AUXDATA_BYTES = 256;

/**
 * The end of a running code that names its metadata, in hex; undefined where there is no hash. A code with this end comes of
 * the same contract, however little else is in the same place.
 */
export function metadataEndOf(runtime: string): string | undefined {
  const length = Number.parseInt(runtime.slice(-4), 16) + 2;
  if (!(length <= MOST_AUXDATA_BYTES)) return undefined;
  const end = runtime.slice(-DIGITS_A_BYTE * length);
  return readTrailingAuxdata(Buffer.from(end, 'hex'))?.metadataHash && end;
}

/** How near two codes are, from 0 to 1: the share of equal bytes. */
export function countSame(left: Uint16Array, right: Uint16Array): number {
  let same = 0;
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) if (left[at] === right[at]) same += 1;
  return same / Math.max(left.length, right.length, 1);
}
