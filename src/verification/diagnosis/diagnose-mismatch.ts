import { readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { firstDifferingInstruction } from '../../bytecode/first-differing-instruction.ts';
import { type Instruction, readInstructions, readSourceMap } from '../../bytecode/instructions.ts';
import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { toCodeTemplate } from '../../bytecode/recompiled-code.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { printableText } from '../../lib/printable-text.ts';
import { ownMethodIdentifiers, signaturesOf } from '../../solidity/abi-signatures.ts';
import { type CompilationTarget, type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompilationTask } from '../compilation/compilation-task.ts';
import { compileAllBytecode } from '../compilation/compile-codes.ts';
import { type CompiledTarget, type ContractCompiler } from '../compilation/compile-contract.ts';
import { type JobReader } from '../compilation/job-reader.ts';
import { ContractRanking } from '../submitted-codes/contract-ranking.ts';
import { startDiagnosisTimer } from './diagnosis-time.ts';
import { type CodeTraits, settingTrials } from './setting-trials.ts';

/** The likely cause of a mismatch, as far as trials find one; at most one field is set. */
export interface Diagnosis {
  /** The compiler release named in the bytecode on chain, if another one was used. */
  readonly compiler?: { readonly onChain: string; readonly used: string };
  /** Another contract of the same sources that matches, as `path:Name`. */
  readonly contract?: string;
  /** The setting that has to change for a match: `optimizer.runs: 1000`. */
  readonly settings?: string;
  /** The source line of the first instruction that differs. */
  readonly place?: { readonly path: string; readonly line: number; readonly text: string };
}

/** The mismatch to diagnose: a compilation, and the bytecode on chain that it does not produce. */
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
  /** Whether other jobs are waiting for a worker; if absent, none are. */
  readonly doOthersWait?: () => boolean;
}

/** If a compilation takes longer than this, a diagnosis has time for only a few. */
const SLOW_COMPILATION_MS = 2_000;
const MAX_CONTRACTS = 2;
/** Bytecode larger than any known chain allows is not disassembled: that would block other requests. */
const MAX_READ_BYTES = 65_536;
const LINE_SHOWN_CHARACTERS = 200;
/** A compiler version. The deployer can put any text in its place in the bytecode. */
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]{1,60})?$/;
const PUSH0 = 0x5f;
const MCOPY = 0x5e;

/**
 * Looks for the cause of a mismatch by trying common mistakes: the version, the contract, the settings.
 * Trials that fail or take too long are skipped. The result proves nothing and is not used to store a match.
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
  if (onChain.length > MAX_READ_BYTES || sizeOf(compiled) > MAX_READ_BYTES) return {};
  const time = startDiagnosisTimer(parts.doOthersWait ?? (() => false));
  try {
    return await tryOthers(parts, mismatch, signal, AbortSignal.any([signal, time.signal]));
  } finally {
    time.end();
  }
}

/**
 * Tries other contracts and settings until `within` aborts, otherwise locates the first difference.
 * @throws the reason of `signal`
 */
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

/** Returns the size of the recompiled runtime bytecode in bytes. */
function sizeOf({ codes }: CompiledTarget): number {
  return codes.runtime.code.length / 2;
}

/** Formats a diagnosis as a sentence to append to the failure message. */
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
  const { codes } = await compileAllBytecode(parts, { ...task, input }, signal);
  if (codes.length < 2) return undefined;
  const ranking = new ContractRanking(codes, signal);
  const near = await ranking.nearest({ address: '0x', runtimeCode: bytesToHex(onChain) });
  const others = near.filter(({ path, name }) => path !== target.path || name !== target.name);
  for (const other of others.slice(0, MAX_CONTRACTS)) {
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
    // A setting that this version rejects cannot have been used.
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

/**
 * Returns whether the bytecode on chain has all functions of the sources. If not, it comes from other
 * sources, whatever the settings.
 */
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
  const index = firstDifferingInstruction(bytes, onChain, ends);
  const { sourceMap } = compiled.contract.evm?.deployedBytecode ?? {};
  if (index === undefined || sourceMap === undefined) return undefined;
  const instructions: readonly Instruction[] = readInstructions(bytes);
  const place = readSourceMap(sourceMap, instructions.length)[index];
  const path = Object.entries(compiled.sourceIds).find(([, { id }]) => id === place?.file)?.[0];
  const content = path === undefined ? undefined : input.sources[path]?.content;
  if (place === undefined || path === undefined || content === undefined) return undefined;
  // Source maps count offsets in UTF-8 bytes.
  const before = Buffer.from(content).subarray(0, place.offset).toString();
  const lines = before.split('\n');
  const text = content.split('\n')[lines.length - 1] ?? '';
  return {
    path: printableText(path),
    line: lines.length,
    text: printableText(text.trim(), LINE_SHOWN_CHARACTERS),
  };
}
