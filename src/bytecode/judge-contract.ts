// Compares the bytecode of a compilation with that on chain by strict replay, without I/O. The verdict is
// none, partial or full.
import { type ConfiguredLibraries } from './explained-value.ts';
import { groupByPath } from '../solidity/library-id.ts';
import {
  matchCreationCode,
  matchRuntimeCode,
  requireValuesWithoutCreation,
  allowsMissingArguments,
} from './match-code.ts';
import { templateOf, type RecompiledCode } from './recompiled-code.ts';
import { type CodeVerdict } from './verdict.ts';

/** A recompiled bytecode and the bytecode on chain to compare it with. */
export interface CodePair {
  readonly recompiled: RecompiledCode;
  readonly onChain: Uint8Array;
}

/** A deployment and a compilation. A bytecode that is not known is absent and not judged. */
export interface ContractComparison {
  /** Hex in any case. */
  readonly address: string;
  readonly runtime?: CodePair;
  /** `onChain` is the creation bytecode of the transaction that created this address, with constructor arguments. */
  readonly creation?: CodePair;
  /** The `abi` of the compiler's output. */
  readonly abi: unknown;
  /** The compiler: constructors of old versions read missing arguments as zeros. */
  readonly compiler?: { readonly language: string; readonly version: string };
  /** `settings.libraries` of the compiler's input. */
  readonly libraries?: ConfiguredLibraries;
}

/**
 * The match of the contract, of its runtime and creation bytecode, and the underlying verdicts. If the
 * runtime bytecode is known and does not match, there is no match at all, whatever `creation` contains.
 */
export interface ContractJudgement {
  readonly match: 'full' | 'partial' | null;
  readonly runtimeMatch: 'full' | 'partial' | null;
  /**
   * Also null if the creation bytecode matches but the runtime bytecode does not: the constructor returned
   * other code.
   */
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

/**
 * Returns the addresses that the runtime bytecode links, in the form of settings: the creation bytecode links
 * the same ones.
 */
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

/** Judges the runtime bytecode, with and without a matching creation bytecode. */
function judgeRuntime(
  { recompiled, onChain }: CodePair,
  { address, libraries = {} }: ContractComparison,
): { readonly verdict: CodeVerdict; withoutCreation(): CodeVerdict } {
  const template = templateOf(recompiled);
  const verdict = matchRuntimeCode({ recompiled: template, onChain, address, libraries });
  return {
    verdict,
    withoutCreation: () => requireValuesWithoutCreation(template, onChain, verdict),
  };
}

/**
 * Judges a contract by its runtime bytecode, and by its creation bytecode in addition. They interact in three
 * ways: matching creation bytecode says nothing about different runtime bytecode; a library has one address
 * in the whole contract; and a code pointer in an immutable is accepted only with matching creation bytecode.
 * @throws FullmatchError `malformed_compiler_output`, TypeError if `address` is not an address.
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
        takesMissingArguments: allowsMissingArguments(compiler.language, compiler.version),
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
