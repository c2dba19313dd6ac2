import { toCodeTemplate, type RecompiledCode } from '../../bytecode/recompiled-code.ts';
import { toolchainOf } from '../../compilers/toolchains/all-toolchains.ts';
import { ownMethodIdentifiers } from '../../solidity/abi-signatures.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import type { Compilation } from '../../repository/repository.ts';
import { type CompilationTask } from './compilation-task.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { languageOf } from './languages/all-languages.ts';
import { unlistedSources } from './needed-sources.ts';

type Members = Readonly<Record<string, unknown>>;

/** Replaces missing members with null, as the columns of the Verifier Alliance require. */
function orNull(members: Members): Members {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, value ?? null]));
}

function codeArtifacts(
  code: RecompiledCode,
  compiled: { readonly sourceMap?: string; readonly linkReferences?: unknown },
): Members {
  return orNull({
    sourceMap: compiled.sourceMap,
    linkReferences: compiled.linkReferences,
    cborAuxdata: code.auxdata,
  });
}

/** Returns the members of the input other than language, sources and settings that the compiler read, if any. */
function moreMembersOf(language: string, input: StandardJsonInput): Members {
  const { moreMembers } = languageOf(language);
  const given = moreMembers.filter((name) => Object.hasOwn(input, name));
  if (given.length === 0) return {};
  return { input: Object.fromEntries(given.map((name) => [name, input[name]])) };
}

/** Returns the types of the bytecode's own immutables, which a later check needs. */
function typesOfImmutables({
  immutableReferences = {},
  immutableTypes = {},
}: RecompiledCode): Pick<Compilation, 'immutableTypes'> {
  const ids = Object.keys(immutableReferences);
  if (ids.length === 0) return {};
  const known = Object.entries(immutableTypes).filter(([id]) => ids.includes(id));
  return { immutableTypes: Object.fromEntries(known) };
}

/**
 * Builds the stored form of a compilation; the sources of the input are the ones it needs. The output
 * selection is left out: it says nothing about the contract and may contain any text.
 */
export function describeCompilation(
  { language, target }: CompilationTask,
  input: StandardJsonInput,
  compiled: CompiledTarget,
): Compilation {
  const { contract, evm, codes, version, sourceIds } = compiled;
  const { abi, metadata, userdoc, devdoc, storageLayout, transientStorageLayout } = contract;
  const methodIdentifiers = ownMethodIdentifiers(abi, contract.evm?.methodIdentifiers);
  return {
    language,
    compiler: toolchainOf(language, version).compiler,
    version,
    name: target.name,
    fullyQualifiedName: `${target.path}:${target.name}`,
    settings: Object.fromEntries(
      Object.entries(input.settings).filter(([key]) => key !== 'outputSelection'),
    ),
    artifacts: orNull({
      abi,
      userdoc,
      devdoc,
      storageLayout,
      transientStorageLayout,
      // Before 0.3.6 sources have no ids.
      sources: Object.keys(sourceIds).length === 0 ? undefined : sourceIds,
      ...(methodIdentifiers && { methodIdentifiers }),
      ...moreMembersOf(language, input),
    }),
    ...(typeof metadata === 'string' && metadata !== '' && { metadata }),
    creationCode: toCodeTemplate(codes.creation).bytes,
    runtimeCode: toCodeTemplate(codes.runtime).bytes,
    creationCodeArtifacts: codeArtifacts(codes.creation, evm.bytecode),
    runtimeCodeArtifacts: {
      ...codeArtifacts(codes.runtime, evm.deployedBytecode),
      immutableReferences: evm.deployedBytecode.immutableReferences ?? null,
    },
    sources: Object.entries(input.sources).map(([path, { content = '' }]) => ({ path, content })),
    ...(unlistedSources(input, compiled).length > 0 && { hasUnlistedSources: true }),
    ...typesOfImmutables(codes.runtime),
  };
}
