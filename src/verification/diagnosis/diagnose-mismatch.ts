import { readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { firstOtherInstruction } from '../../bytecode/first-other-instruction.ts';
import { type Instruction, readInstructions, readSourceMap } from '../../bytecode/instructions.ts';
import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { toCodeTemplate } from '../../bytecode/recompiled-code.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { printableText } from '../../lib/printable-text.ts';
import { ownMethodIdentifiers, signaturesOf } from '../../solidity/abi-signatures.ts';
import { type CompilationTarget, type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompilationTask } from '../compilation/compilation-task.ts';
import { compileCodes } from '../compilation/compile-codes.ts';
import { type CompiledTarget, type ContractCompiler } from '../compilation/compile-contract.ts';
import { type JobReader } from '../compilation/job-reader.ts';
import { ContractRanking } from '../submitted-codes/contract-ranking.ts';
import { limitDiagnosis } from './diagnosis-time.ts';
import { type CodeTraits, settingTrials } from './setting-trials.ts';

/** Why sources do not give the code on chain, as far as trying other things shows it: the first that is found. */
export interface Diagnosis {
  /** The release that the code on chain names as its compiler, where another one was used. */
  readonly compiler?: { readonly onChain: string; readonly used: string };
  /** Another contract of the same sources that gives the code, as `path:Name`. */
  readonly contract?: string;
  /** What of the settings has to be other, so that the sources give the code: `optimizer.runs: 1000`. */
  readonly settings?: string;
  /** Where in the sources the first instruction that differs comes from. */
  readonly place?: { readonly path: string; readonly line: number; readonly text: string };
}

/** What is diagnosed: a compilation, and the code on chain that it does not give. */
export interface Mismatch {
  readonly task: CompilationTask;
  readonly input: StandardJsonInput;
  readonly compiled: CompiledTarget;
  readonly onChain: Uint8Array;
  readonly compile: (
    target: CompilationTarget,
    input: StandardJsonInput,
    signal: AbortSignal,
  ) => Promise<CompiledTarget>;
  readonly judge: (input: StandardJsonInput, compiled: CompiledTarget) => ContractJudgement;
}

interface Parts {
  readonly compilers: ContractCompiler;
  readonly reader: JobReader;
  /** Whether other jobs wait for a worker; without it none do. */
  readonly doOthersWait?: () => boolean;
}

/** Where one compilation takes longer, few are possible in the time of a diagnosis. */
const SLOW_COMPILATION_MS = 2_000;
const MOST_CONTRACTS = 2;
/** Codes beyond the size that any known chain lets be deployed are not read instruction by instruction: that holds up others. */
const MOST_READ_BYTES = 65_536;
const LINE_SHOWN_CHARACTERS = 200;
/** What names a compiler; its place in a code may hold any text of whoever deployed it. */
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]{1,60})?$/;
const PUSH0 = 0x5f;
const MCOPY = 0x5e;

/**
 * Looks for the reason of a mismatch by trying what people get wrong: the version, the contract, the settings. What takes too
 * long, or fails, is left out. The result proves nothing, and nothing is stored by it.
 * @throws the reason of `signal`
 */
export async function diagnoseMismatch(
  parts: Parts,
  mismatch: Mismatch,
  signal: AbortSignal,
): Promise<Diagnosis> {
  const { task, compiled, onChain } = mismatch;
  if (task.language !== 'solidity') return {};
  const used = /^\d+\.\d+\.\d+/.exec(compiled.version)?.[0] ?? compiled.version;
  const stated = readTrailingAuxdata(onChain)?.solc;
  const isStated = stated !== undefined && VERSION.test(stated);
  if (isStated && stated !== used && !compiled.version.startsWith(stated)) {
    return { compiler: { onChain: printableText(stated, 100), used } };
  }
  if (onChain.length > MOST_READ_BYTES || sizeOf(compiled) > MOST_READ_BYTES) return {};
  const time = limitDiagnosis(parts.doOthersWait ?? (() => false));
  try {
    return await tryOthers(parts, mismatch, signal, AbortSignal.any([signal, time.signal]));
  } finally {
    time.end();
  }
}

/** Tries other contracts and settings while `within` lasts, and else finds the place. @throws the reason of `signal` */
async function tryOthers(
  parts: Parts,
  mismatch: Mismatch,
  signal: AbortSignal,
  within: AbortSignal,
): Promise<Diagnosis> {
  const { compiled, onChain } = mismatch;
  const isQuick = compiled.compileTimeMs <= SLOW_COMPILATION_MS;
  const passed = (): undefined => {
    signal.throwIfAborted();
    return undefined;
  };
  const contract = isQuick ? await findContract(parts, mismatch, within).catch(passed) : undefined;
  if (contract !== undefined) return { contract };
  const settings =
    isQuick && hasSameFunctions(compiled, onChain)
      ? await findSettings(mismatch, within).catch(passed)
      : undefined;
  if (settings !== undefined) return { settings };
  const place = findPlace(mismatch);
  return place === undefined ? {} : { place };
}

/** Of the recompiled running code, in bytes. */
function sizeOf({ codes }: CompiledTarget): number {
  return codes.runtime.code.length / 2;
}

/** What a diagnosis says, as a sentence behind the failure's message. */
export function describeDiagnosis({ compiler, contract, settings, place }: Diagnosis): string {
  if (compiler !== undefined) {
    return ` It names ${compiler.onChain} as its compiler, and these sources were compiled by ${compiler.used}.`;
  }
  if (contract !== undefined) return ` It matches ${contract} in the same sources.`;
  if (settings !== undefined) return ` With ${settings} these sources match.`;
  if (place === undefined) return '';
  return ` The first differing instruction comes from ${place.path}:${place.line}.`;
}

async function findContract(
  parts: Parts,
  { task, input, onChain, compile, judge }: Mismatch,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { target } = task;
  const { codes } = await compileCodes(parts, { ...task, input }, signal);
  if (codes.length < 2) return undefined;
  const ranking = new ContractRanking(codes, signal);
  const near = await ranking.nearest({ address: '0x', runtimeCode: bytesToHex(onChain) });
  const others = near.filter(({ path, name }) => path !== target.path || name !== target.name);
  for (const other of others.slice(0, MOST_CONTRACTS)) {
    const compiled = await compile(other, input, signal);
    if (judge(input, compiled).match !== null) return printableText(`${other.path}:${other.name}`);
  }
  return undefined;
}

async function findSettings(
  { task, input, compiled, onChain, compile, judge }: Mismatch,
  signal: AbortSignal,
): Promise<string | undefined> {
  const traits = {
    ours: traitsOf(toCodeTemplate(compiled.codes.runtime).bytes),
    theirs: traitsOf(onChain),
  };
  for (const { settings, change } of settingTrials(input.settings, task.version, traits)) {
    const tried = { ...input, settings } as StandardJsonInput;
    // Settings that this version does not know, or that do not go together, are none that were used.
    const other = await compile(task.target, tried, signal).catch(() => undefined);
    signal.throwIfAborted();
    if (other !== undefined && judge(tried, other).match !== null) return change;
  }
  return undefined;
}

function traitsOf(code: Uint8Array): CodeTraits {
  const opcodes = new Set(readInstructions(withoutAuxdata(code)).map(({ opcode }) => opcode));
  return { hasPush0: opcodes.has(PUSH0), hasMcopy: opcodes.has(MCOPY) };
}

function withoutAuxdata(code: Uint8Array): Uint8Array {
  return code.subarray(0, readTrailingAuxdata(code)?.offset ?? code.length);
}

/** Whether the code on chain has the functions of the sources: else they are other sources, whatever the settings. */
function hasSameFunctions({ contract }: CompiledTarget, onChain: Uint8Array): boolean {
  const pushed = new Set(
    readInstructions(withoutAuxdata(onChain)).map(({ pushed: value }) => value),
  );
  const identifiers = ownMethodIdentifiers(contract.abi, contract.evm?.methodIdentifiers);
  return signaturesOf(contract.abi, identifiers).function.every(({ signatureHash4 }) =>
    pushed.has(Number(signatureHash4)),
  );
}

function findPlace({ compiled, input, onChain }: Mismatch): Diagnosis['place'] {
  const { bytes } = toCodeTemplate(compiled.codes.runtime);
  const ends = [withoutAuxdata(bytes).length, withoutAuxdata(onChain).length] as const;
  const index = firstOtherInstruction(bytes, onChain, ends);
  const { sourceMap } = compiled.contract.evm?.deployedBytecode ?? {};
  if (index === undefined || sourceMap === undefined) return undefined;
  const instructions: readonly Instruction[] = readInstructions(bytes);
  const place = readSourceMap(sourceMap, instructions.length)[index];
  const path = Object.entries(compiled.sourceIds).find(([, { id }]) => id === place?.file)?.[0];
  const content = path === undefined ? undefined : input.sources[path]?.content;
  if (place === undefined || path === undefined || content === undefined) return undefined;
  // Offsets of source maps are bytes of UTF-8.
  const before = Buffer.from(content).subarray(0, place.offset).toString();
  const lines = before.split('\n');
  const text = content.split('\n')[lines.length - 1] ?? '';
  return {
    path: printableText(path),
    line: lines.length,
    text: printableText(text.trim(), LINE_SHOWN_CHARACTERS),
  };
}
