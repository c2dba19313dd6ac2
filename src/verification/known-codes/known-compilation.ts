import { auxdataReaderOf } from '../../bytecode/auxdata-reader.ts';
import { LIBRARY_ADDRESS_IMMUTABLE } from '../../bytecode/explained-value.ts';
import { type RecompiledCodes } from '../../bytecode/compiled-contract.ts';
import { judgeContract, type ContractJudgement } from '../../bytecode/judge-contract.ts';
import {
  type AuxdataPositions,
  type ImmutableReferences,
  type LinkReferences,
} from '../../bytecode/recompiled-code.ts';
import { type Hex } from '../../lib/hex.ts';
import {
  compilationId,
  type Compilation,
  type KnownCandidate,
} from '../../repository/repository.ts';
import { readConfiguredLibraries } from '../compilation/configured-libraries.ts';
import { areAllSettingsProven } from '../compilation/drop-unused-settings.ts';
import { dependsOnFileOrder } from '../compilation/file-order.ts';
import { isCompiledLanguage, languageOf } from '../compilation/languages/all-languages.ts';
import { unlistedSources } from '../compilation/needed-sources.ts';

/** A stored compilation whose bytecode can be compared without a compiler. */
export interface KnownCompilation {
  readonly compilation: Compilation;
  readonly codes: RecompiledCodes;
  /** Whether it resulted from a partial match; it then has no setting that a partial match does not prove. */
  readonly gavePartial: boolean;
}

type Artifacts = Readonly<Record<string, unknown>>;

/**
 * Prepares a compilation for comparison. Returns undefined if it lacks data that a compiler would provide,
 * such as the bytecode of an import or the types of its immutables.
 */
export function toKnownCompilation(
  compilation: Compilation,
  gavePartial: boolean,
): KnownCompilation | undefined {
  const { creationCode, runtimeCode, immutableTypes } = compilation;
  const { creationCodeArtifacts: ofCreation, runtimeCodeArtifacts: ofRuntime } = compilation;
  if (creationCode === undefined || runtimeCode === undefined) return undefined;
  if (ofCreation === undefined || ofRuntime === undefined) return undefined;
  const immutableReferences = (ofRuntime['immutableReferences'] ?? {}) as ImmutableReferences;
  const appended = appendedImmutables(compilation, { creationCode, runtimeCode });
  const ids = Object.keys(immutableReferences).filter((id) => id !== LIBRARY_ADDRESS_IMMUTABLE);
  if (ids.length > 0 && immutableTypes === undefined) return undefined;
  return {
    compilation,
    gavePartial,
    codes: {
      runtime: {
        ...placesOf(runtimeCode, ofRuntime),
        immutableReferences,
        immutableTypes: immutableTypes ?? {},
        ...(appended !== undefined && { appendedImmutableBytes: appended }),
      },
      creation: placesOf(creationCode, ofCreation),
    },
  };
}

/** Returns the size of the immutables appended to the runtime bytecode, as the creation bytecode of Vyper states it. */
function appendedImmutables(
  { language, version }: Compilation,
  { creationCode, runtimeCode }: { creationCode: Uint8Array; runtimeCode: Uint8Array },
): number | undefined {
  if (languageOf(language).compiler === 'solc') return undefined;
  const objectOf = (code: Uint8Array) => ({ object: Buffer.from(code).toString('hex') });
  const evm = { bytecode: objectOf(creationCode), deployedBytecode: objectOf(runtimeCode) };
  const reading = auxdataReaderOf(language).read({ evm, version });
  return 'appendedImmutableBytes' in reading ? reading.appendedImmutableBytes : undefined;
}

function placesOf(
  code: Uint8Array,
  { linkReferences, cborAuxdata }: Artifacts,
): RecompiledCodes['creation'] {
  return {
    code: Buffer.from(code).toString('hex'),
    linkReferences: (linkReferences ?? {}) as LinkReferences,
    auxdata: (cborAuxdata ?? {}) as AuxdataPositions,
  };
}

/**
 * Prepares a stored compilation for comparison. Returns undefined like {@link toKnownCompilation}, and also
 * if its id changed on the way through the database, since a match is stored under the compilation's id.
 */
export function readKnownCompilation(
  stored: Compilation,
  id: string,
  gavePartial: boolean,
): KnownCompilation | undefined {
  if (stored.runtimeCode === undefined || !isCompiledLanguage(stored.language)) return undefined;
  if (compilationId(stored) !== id) return undefined;
  const { metadata, version, artifacts, sources } = stored;
  const sourceIds = (artifacts['sources'] ?? {}) as Readonly<Record<string, { id: number }>>;
  const given = {
    language: stored.language,
    sources: Object.fromEntries(sources.map(({ path, content }) => [path, { content }])),
    settings: stored.settings,
  };
  const listed = { contract: { ...(metadata !== undefined && { metadata }) }, version, sourceIds };
  const hasUnlistedSources = unlistedSources(given, listed).length > 0;
  const compilation = { ...stored, ...(hasUnlistedSources && { hasUnlistedSources }) };
  return toKnownCompilation(compilation, gavePartial);
}

/** The bytecode of a deployment, as far as it is known. */
export interface CodesOnChain {
  readonly runtimeCode?: Uint8Array;
  readonly creationCode?: Uint8Array;
}

/** Judges a deployment by the bytecode of a known compilation, like a verification does by that of a compiler. */
export function judgeWithKnownCompilation(
  { compilation, codes }: KnownCompilation,
  address: Hex,
  { runtimeCode, creationCode }: CodesOnChain,
): ContractJudgement {
  return judgeContract({
    address,
    abi: compilation.artifacts['abi'],
    compiler: { language: compilation.language, version: compilation.version },
    ...(runtimeCode && { runtime: { recompiled: codes.runtime, onChain: runtimeCode } }),
    ...(creationCode && { creation: { recompiled: codes.creation, onChain: creationCode } }),
    libraries: readConfiguredLibraries(compilation.settings),
  });
}

/**
 * Returns whether the bytecode on chain may come from the same files in another order: it has their metadata
 * hash, and the compiler's output depends on the order.
 */
export function mayDifferByFileOrder(
  { compilation }: KnownCompilation,
  { hasSameMetadata }: Pick<KnownCandidate, 'hasSameMetadata'>,
): boolean {
  return hasSameMetadata && dependsOnFileOrder(compilation);
}

/**
 * Returns whether a verification of the deployment with these sources would store exactly this compilation.
 * If it might drop a source or setting that the match does not prove, only compiling can tell.
 */
export function wouldBeStoredUnchanged(
  { compilation, gavePartial }: KnownCompilation,
  match: 'full' | 'partial',
): boolean {
  const { settings, version, metadata, hasUnlistedSources = false } = compilation;
  if (hasUnlistedSources) return false;
  const described = { version, contract: { ...(metadata !== undefined && { metadata }) } };
  if (areAllSettingsProven(compilation, match, described)) {
    const { compiler, listsImports } = languageOf(compilation.language);
    return match === 'full' || compiler !== 'solc' || listsImports(version);
  }
  const namesLibraries = Object.keys(readConfiguredLibraries(settings)).length > 0;
  return match === 'partial' && gavePartial && !namesLibraries;
}
