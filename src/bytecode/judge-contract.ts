// Compares the codes of a compilation with those on chain by strict replay, without I/O, and judges: none, partial or full.
import { type ConfiguredLibraries } from './explained-value.ts';
import { groupByPath } from '../solidity/library-id.ts';
import {
  matchCreationCode,
  matchRuntimeCode,
  requireSelfEvidentValues,
  takesMissingArguments,
} from './match-code.ts';
import { templateOf, type RecompiledCode } from './recompiled-code.ts';
import { type CodeVerdict } from './verdict.ts';

/** A recompiled code and the code on chain that it is held against. */
export interface CodePair {
  readonly recompiled: RecompiledCode;
  readonly onChain: Uint8Array;
}

/** A deployment and a compilation: what is known about either code. A code that is not known is absent, and not judged. */
export interface ContractComparison {
  /** Hex in any case. */
  readonly address: string;
  readonly runtime?: CodePair;
  /** `onChain`: the code of the transaction that created this address, with its constructor arguments. */
  readonly creation?: CodePair;
  /** The `abi` of the compiler's output. */
  readonly abi: unknown;
  /** What compiled: constructors of old versions take missing arguments for zeros. */
  readonly compiler?: { readonly language: string; readonly version: string };
  /** `settings.libraries` of the compiler's input. */
  readonly libraries?: ConfiguredLibraries;
}

/**
 * The match of the contract, those of its codes, and the verdicts that they rest on. Where the running code is known and
 * does not match there is no match at all, whatever `creation` says.
 */
export interface ContractJudgement {
  readonly match: 'full' | 'partial' | null;
  readonly runtimeMatch: 'full' | 'partial' | null;
  /** Null as well where the creation code matches and the code that runs does not: the constructor returned another. */
  readonly creationMatch: 'full' | 'partial' | null;
  readonly runtime?: CodeVerdict;
  readonly creation?: CodeVerdict;
}

function betterMatch(
  left: ContractJudgement['match'],
  right: ContractJudgement['match'],
): ContractJudgement['match'] {
  if (left === 'full' || right === 'full') return 'full';
  return left ?? right;
}

/** The addresses that the running code links, as settings would say them: the code that created it links the same. */
function linkedLibraries(
  verdict: CodeVerdict | undefined,
  configured: ConfiguredLibraries = {},
): ConfiguredLibraries {
  const found = verdict?.match ? Object.entries(verdict.values.libraries ?? {}) : [];
  const ids = Object.entries(configured).flatMap(([path, named]) =>
    Object.entries(named).map(([name, address]) => [`${path}:${name}`, address] as const),
  );
  return groupByPath([...ids, ...found]);
}

/** The verdict on the code that runs, and what is left of it where no creation code matches. */
function judgeRuntime(
  { recompiled, onChain }: CodePair,
  { address, libraries = {} }: ContractComparison,
): { readonly verdict: CodeVerdict; withoutCreation(): CodeVerdict } {
  const template = templateOf(recompiled);
  const verdict = matchRuntimeCode({ recompiled: template, onChain, address, libraries });
  return {
    verdict,
    withoutCreation: () => requireSelfEvidentValues(template, onChain, verdict),
  };
}

/**
 * Judges a contract by the code that runs; the code that created it counts beside it. They meet in three points: creation
 * code that matches says nothing about another code that runs; a library has one address in the whole contract; and a place
 * in the code that an immutable holds is believed only of creation code that matches.
 * @throws FullmatchError `malformed_compiler_output`, TypeError when `address` is not an address.
 */
export function judgeContract(comparison: ContractComparison): ContractJudgement {
  const { libraries = {}, compiler } = comparison;
  const found = comparison.runtime && judgeRuntime(comparison.runtime, comparison);
  const creation =
    comparison.creation &&
    matchCreationCode({
      recompiled: templateOf(comparison.creation.recompiled),
      onChain: comparison.creation.onChain,
      abi: comparison.abi,
      ...(compiler && {
        takesMissingArguments: takesMissingArguments(compiler.language, compiler.version),
      }),
      libraries: linkedLibraries(found?.verdict, libraries),
    });
  const runtime = creation?.match ? found?.verdict : found?.withoutCreation();
  const isOther = runtime?.match === null;
  const runtimeMatch = runtime?.match ?? null;
  const creationMatch = isOther ? null : (creation?.match ?? null);
  return {
    match: betterMatch(runtimeMatch, creationMatch),
    runtimeMatch,
    creationMatch,
    ...(runtime && { runtime }),
    ...(creation && { creation }),
  };
}
