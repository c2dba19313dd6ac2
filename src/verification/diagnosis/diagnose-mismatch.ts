import { readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { findDifference } from '../../bytecode/find-difference.ts';
import { readInstructions, readSourceMap, type SourceRange } from '../../bytecode/instructions.ts';
import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { toCodeTemplate } from '../../bytecode/recompiled-code.ts';
import { readTrailingVyperAuxdata } from '../../bytecode/vyper-auxdata.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { printableText } from '../../lib/printable-text.ts';
import { ownMethodIdentifiers, signaturesOf } from '../../solidity/abi-signatures.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompilationTask } from '../compilation/compilation-task.ts';
import { compileAllBytecode } from '../compilation/compile-codes.ts';
import { type CompiledTarget, type ContractCompiler } from '../compilation/compile-contract.ts';
import { type JobReader } from '../compilation/job-reader.ts';
import { findMetadataChange, withMetadata } from '../compilation/metadata-form.ts';
import { ContractRanking } from '../submitted-codes/contract-ranking.ts';
import { diagnosisLimits, type DiagnosisLimits, startDiagnosisTimer } from './diagnosis-time.ts';
import { type Diagnosis, diagnosisOfChanges, type SourcePlace } from '../../solidity/diagnosis.ts';
import { findEnclosingFunction } from './enclosing-function.ts';
import { type SettingChanges, withChanges } from '../../solidity/setting-changes.ts';
import { hasSelectors } from './has-selectors.ts';
import { isOfVersion } from '../compilation/is-of-version.ts';
import { opcodeLikenessTo } from './opcode-likeness.ts';
import { type CodeTraits, settingTrials } from './setting-trials.ts';

/** The mismatch to diagnose: a compilation, and the bytecode on chain that it does not produce. */
export interface Mismatch {
  readonly task: CompilationTask;
  readonly input: StandardJsonInput;
  readonly compiled: CompiledTarget;
  readonly onChain: Uint8Array;
  readonly compile: (
    task: CompilationTask,
    input: StandardJsonInput,
    signal: AbortSignal,
  ) => Promise<CompiledTarget>;
  readonly judge: (input: StandardJsonInput, compiled: CompiledTarget) => ContractJudgement;
}

/** Changed settings with which the sources match. */
export interface SettingsFound {
  readonly changes: SettingChanges;
  /** With the other compiler, if that is a change. */
  readonly task: CompilationTask;
  readonly input: StandardJsonInput;
}

/** What a diagnosis found: a description, and the settings to compile with if those were the cause. */
export interface MismatchCause {
  readonly diagnosis: Diagnosis;
  readonly found?: SettingsFound;
}

/** A compilation with other settings that does not match, but whose bytecode is the most similar. */
interface Nearest {
  readonly changes: SettingChanges;
  readonly input: StandardJsonInput;
  readonly compiled: CompiledTarget;
}

/** What the trials found. */
interface Tried {
  readonly cause?: MismatchCause | undefined;
  readonly nearest?: Nearest;
}

interface Parts {
  readonly compilers: ContractCompiler;
  readonly reader: JobReader;
  /** Whether other jobs are waiting for a worker; if absent, none are. */
  readonly doOthersWait?: () => boolean;
  /** Time limit in milliseconds; with 0 nothing is tried. */
  readonly diagnosisMs: number;
}

/** The time that is left for trials. */
type DiagnosisTime = Pick<DiagnosisLimits, 'slowCompilationMs'> & { readonly signal: AbortSignal };

/** Other contracts of the same sources that are tried. */
const MAX_CONTRACTS = 3;
/** Bytecode larger than any known chain allows is not disassembled: that would block other requests. */
const MAX_READ_BYTES = 65_536;
const LINE_SHOWN_CHARACTERS = 200;
const NAME_SHOWN_CHARACTERS = 100;
/** A compiler version. The deployer can put any text in its place in the bytecode. */
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]{1,60})?$/;
const PUSH0 = 0x5f;
const MCOPY = 0x5e;

/**
 * Looks for the cause of a mismatch by trying common mistakes: the contract, the compiler, the settings.
 * Trials that fail or take too long are skipped. The result proves nothing; settings that it finds have to be
 * compiled and compared again.
 * @param options whether the caller will use the settings that are found
 * @throws the reason of `signal`
 */
export async function diagnoseMismatch(
  parts: Parts,
  mismatch: Mismatch,
  signal: AbortSignal,
  { willUseSettings = false }: { readonly willUseSettings?: boolean } = {},
): Promise<MismatchCause> {
  const { task, compiled, onChain } = mismatch;
  const sizes = { compiled: sizeOf(compiled), onChain: onChain.length };
  if (task.language !== 'solidity' && task.language !== 'vyper') return { diagnosis: { sizes } };
  const compiler = findOtherCompiler(mismatch);
  const isLarge = Math.max(sizes.compiled, sizes.onChain) > MAX_READ_BYTES;
  if (isLarge) return { diagnosis: { ...(compiler && { compiler }), sizes } };
  const { cause, nearest } =
    parts.diagnosisMs > 0
      ? await tryInTime(
          parts,
          mismatch,
          compiler?.onChain,
          diagnosisLimits(parts.diagnosisMs, willUseSettings),
          signal,
        )
      : {};
  if (cause !== undefined) return cause;
  if (compiler !== undefined) return { diagnosis: { compiler, sizes } };
  // Who names no settings is told about the closest ones.
  const shown = willUseSettings && nearest !== undefined ? { ...mismatch, ...nearest } : mismatch;
  const place = task.language === 'solidity' ? findPlace(shown) : undefined;
  const closest = shown === mismatch ? undefined : nearest?.changes;
  return {
    diagnosis: {
      ...(place && { place }),
      ...(closest && { closest }),
      sizes: { ...sizes, compiled: sizeOf(shown.compiled) },
    },
  };
}

/** Tries the compiler that the bytecode names, or other contracts and settings, until the time is used up. */
async function tryInTime(
  parts: Parts,
  mismatch: Mismatch,
  compilerVersion: string | undefined,
  limits: DiagnosisLimits,
  signal: AbortSignal,
): Promise<Tried> {
  const timer = startDiagnosisTimer(parts.doOthersWait ?? (() => false), limits);
  const time = { ...limits, signal: AbortSignal.any([signal, timer.signal]) };
  try {
    const tried =
      compilerVersion === undefined
        ? await tryOthers(parts, mismatch, time)
        : { cause: await tryCompiler(parts, mismatch, compilerVersion, time) };
    signal.throwIfAborted();
    return tried;
  } finally {
    timer.end();
  }
}

/** Returns the cause of sources that match with other settings. */
const causeOf = (found: SettingsFound): MismatchCause => ({
  diagnosis: diagnosisOfChanges(found.changes),
  found,
});

/** Returns the compiler that the bytecode on chain names, if it is not the one that was used. */
function findOtherCompiler({ task, compiled, onChain }: Mismatch): Diagnosis['compiler'] {
  const stated =
    task.language === 'vyper'
      ? readTrailingVyperAuxdata(onChain)?.vyper
      : readTrailingAuxdata(onChain)?.solc;
  if (stated === undefined || !VERSION.test(stated)) return undefined;
  if (isOfVersion(compiled.version, stated)) return undefined;
  const used = /^\d+\.\d+\.\d+/.exec(compiled.version)?.[0] ?? compiled.version;
  return { onChain: printableText(stated, 100), used };
}

/** Compiles with another version, unless it has to be downloaded first, and tries the settings with it. */
async function tryCompiler(
  parts: Parts,
  mismatch: Mismatch,
  compilerVersion: string,
  time: DiagnosisTime,
): Promise<MismatchCause | undefined> {
  const { compile, judge, onChain } = mismatch;
  const given = { ...mismatch.task, version: compilerVersion, input: mismatch.input };
  try {
    // Throws for a text in place of the version.
    const metadata = findMetadataChange(given, onChain);
    const task = withMetadata(given, metadata);
    const { input } = task;
    const changed = { compilerVersion, ...(metadata && { metadata }) };
    if ((await parts.compilers.obtain(task)) !== undefined) return undefined;
    const compiled = await compile(task, input, time.signal);
    if (judge(input, compiled).match !== null) {
      return causeOf({ changes: changed, task, input });
    }
    const other = { ...mismatch, task, input, compiled };
    const found = (await tryOthers(parts, other, time)).cause?.found;
    return found && causeOf({ ...found, changes: { ...changed, ...found.changes } });
  } catch {
    return undefined;
  }
}

/** Tries other contracts and settings until the signal aborts. */
async function tryOthers(
  parts: Parts,
  mismatch: Mismatch,
  { signal, slowCompilationMs }: DiagnosisTime,
): Promise<Tried> {
  const { compiled, onChain } = mismatch;
  if (compiled.compileTimeMs > slowCompilationMs) return {};
  const others = await compileNearest(parts, mismatch, signal).catch(() => []);
  const match = others.find(({ input, compiled: of }) => mismatch.judge(input, of).match !== null);
  if (match !== undefined) return { cause: { diagnosis: { contract: nameOf(match) } } };
  const alike = [mismatch, ...others].filter(({ compiled: of }) => hasSameFunctions(of, onChain));
  let nearest: Nearest | undefined;
  for (const each of alike) {
    const tried = await findSettings(each, signal);
    if (each === mismatch) nearest = tried.nearest;
    if (tried.found === undefined) continue;
    if (each === mismatch) return { cause: causeOf(tried.found) };
    const { changes } = tried.found;
    return { cause: { diagnosis: { contract: nameOf(each), ...diagnosisOfChanges(changes) } } };
  }
  return { ...(nearest && { nearest }) };
}

const nameOf = ({ task: { target } }: Mismatch): string =>
  printableText(`${target.path}:${target.name}`);

/** Returns the size of the recompiled runtime bytecode in bytes. */
function sizeOf({ codes }: CompiledTarget): number {
  return codes.runtime.code.length / 2;
}

/** Compiles the contracts of the same sources whose bytecode is closest to the one on chain. */
async function compileNearest(
  parts: Parts,
  mismatch: Mismatch,
  signal: AbortSignal,
): Promise<readonly Mismatch[]> {
  const { task, input, onChain, compile } = mismatch;
  const { codes } = await compileAllBytecode(parts, { ...task, input }, signal);
  if (codes.length < 2) return [];
  const ranking = new ContractRanking(codes, signal);
  const near = await ranking.nearest({ address: '0x', runtimeCode: bytesToHex(onChain) });
  // With other settings a contract of the same name may be the one, however different it is now.
  const namesakes = codes
    .map(({ target }) => target)
    .filter(({ name }) => name === task.target.name);
  const nearest = uniqueTargets(near, task.target).slice(0, 1);
  const others = uniqueTargets([...nearest, ...namesakes, ...near], task.target)
    .slice(0, MAX_CONTRACTS)
    .map((target) => ({ ...task, target }));
  const compiled: Mismatch[] = [];
  for (const other of others) {
    const made = await compile(other, input, signal);
    if (sizeOf(made) <= MAX_READ_BYTES) compiled.push({ ...mismatch, task: other, compiled: made });
  }
  return compiled;
}

type Target = CompilationTask['target'];

function uniqueTargets(targets: readonly Target[], except: Target): readonly Target[] {
  const keyOf = ({ path, name }: Target): string => `${path}:${name}`;
  const unique = new Map(targets.map(({ path, name }) => [keyOf({ path, name }), { path, name }]));
  unique.delete(keyOf(except));
  return [...unique.values()];
}

/**
 * Looks for settings with which the sources match. Different settings can give the same bytecode; those with
 * the same metadata hash are preferred.
 */
async function findSettings(
  { task, input, compiled, onChain, compile, judge }: Mismatch,
  signal: AbortSignal,
): Promise<{ readonly found?: SettingsFound; readonly nearest?: Nearest }> {
  const traits = {
    ours: traitsOf(toCodeTemplate(compiled.codes.runtime).bytes),
    theirs: traitsOf(onChain),
  };
  const likeness = opcodeLikenessTo(withoutAuxdata(onChain));
  const likenessOf = ({ codes }: CompiledTarget): number =>
    likeness(withoutAuxdata(toCodeTemplate(codes.runtime).bytes));
  let most = likenessOf(compiled);
  let nearest: Nearest | undefined;
  let best: SettingsFound | undefined;
  const metadata = findMetadataChange({ ...task, input }, onChain);
  const trials = settingTrials({ ...task, settings: input.settings }, traits);
  const all = metadata ? [{}, ...trials].map((each) => ({ ...each, metadata })) : trials;
  for (const changes of all) {
    const tried = { ...input, settings: withChanges(input.settings, changes) };
    // A setting that this version rejects cannot have been used.
    const other = await compile(task, tried, signal).catch(() => undefined);
    if (signal.aborted) break;
    if (other === undefined) continue;
    const { match } = judge(tried, other);
    const found = { changes, task, input: tried };
    if (match === 'full') return { found };
    if (match === 'partial') best ??= found;
    if (match !== null || sizeOf(other) > MAX_READ_BYTES) continue;
    const alike = likenessOf(other);
    if (alike <= most) continue;
    most = alike;
    nearest = { changes, input: tried, compiled: other };
  }
  return { ...(best && { found: best }), ...(nearest && { nearest }) };
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
  const identifiers = ownMethodIdentifiers(contract.abi, contract.evm?.methodIdentifiers);
  const selectors = signaturesOf(contract.abi, identifiers).function.map(
    ({ signatureHash4 }) => signatureHash4,
  );
  return hasSelectors(withoutAuxdata(onChain), selectors);
}

function findPlace({ compiled, input, onChain }: Mismatch): SourcePlace | undefined {
  const { bytes } = toCodeTemplate(compiled.codes.runtime);
  const ends = [withoutAuxdata(bytes).length, withoutAuxdata(onChain).length] as const;
  const indexes = findDifference(bytes, onChain, ends) ?? [];
  const { sourceMap } = compiled.contract.evm?.deployedBytecode ?? {};
  if (sourceMap === undefined) return undefined;
  const ranges = readSourceMap(sourceMap, readInstructions(bytes).length);
  const pathOf = (range: SourceRange | undefined): string | undefined =>
    Object.entries(compiled.sourceIds).find(([, { id }]) => id === range?.file)?.[0];
  // Code that the compiler generates, such as checked arithmetic, belongs to no source, but its caller does.
  const place = indexes.map((index) => ranges[index]).find((range) => pathOf(range) !== undefined);
  const path = pathOf(place);
  const content = path === undefined ? undefined : input.sources[path]?.content;
  if (place === undefined || path === undefined || content === undefined) return undefined;
  // Source maps count offsets in UTF-8 bytes.
  const before = Buffer.from(content).subarray(0, place.offset).toString();
  const lines = before.split('\n');
  const text = content.split('\n')[lines.length - 1] ?? '';
  const name = findEnclosingFunction(content, before.length);
  return {
    path: printableText(path),
    line: lines.length,
    text: printableText(text.trim(), LINE_SHOWN_CHARACTERS),
    ...(name !== undefined && { function: printableText(name, NAME_SHOWN_CHARACTERS) }),
  };
}
