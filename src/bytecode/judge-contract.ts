import { type ConfiguredLibraries } from './explained-value.ts';
import { matchCreationCode, matchRuntimeCode } from './match-code.ts';
import { toCodeTemplate, type RecompiledCode } from './recompiled-code.ts';
import { type CodeVerdict } from './verdict.ts';

/** A recompiled code and the code on chain that it is held against. */
export interface CodePair {
  readonly recompiled: RecompiledCode;
  readonly onChain: Uint8Array;
}

/** A deployment and a compilation: what is known of either code. A code that is not known is absent, and not judged. */
export interface ContractComparison {
  /** Hex in any case. */
  readonly address: string;
  readonly runtime?: CodePair;
  /** `onChain`: the code of the transaction that created this address, with its constructor arguments. */
  readonly creation?: CodePair;
  /** The `abi` of the compiler's output. */
  readonly abi: unknown;
  /** `settings.libraries` of the compiler's input. */
  readonly libraries?: ConfiguredLibraries;
}

/** Both matches, the better of them, and the verdicts with what they rest on. */
export interface ContractJudgement {
  readonly match: 'full' | 'partial' | null;
  readonly runtimeMatch: 'full' | 'partial' | null;
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
  const libraries = new Map(Object.entries(configured));
  for (const [id, address] of found) {
    const colon = id.lastIndexOf(':');
    const path = id.slice(0, colon);
    libraries.set(path, { ...libraries.get(path), [id.slice(colon + 1)]: address });
  }
  return Object.fromEntries(libraries);
}

/**
 * Judges runtime code and creation code of a contract apart. They meet in one point: a library has one address in the
 * whole contract, so creation code that links another one than the code that runs is refused.
 * @throws FullmatchError `malformed_compiler_output`, TypeError when `address` is not an address.
 */
export function judgeContract(comparison: ContractComparison): ContractJudgement {
  const { address, abi, libraries = {} } = comparison;
  const runtime =
    comparison.runtime &&
    matchRuntimeCode({
      recompiled: toCodeTemplate(comparison.runtime.recompiled),
      onChain: comparison.runtime.onChain,
      address,
      libraries,
    });
  const creation =
    comparison.creation &&
    matchCreationCode({
      recompiled: toCodeTemplate(comparison.creation.recompiled),
      onChain: comparison.creation.onChain,
      abi,
      libraries: linkedLibraries(runtime, libraries),
    });
  const runtimeMatch = runtime?.match ?? null;
  const creationMatch = creation?.match ?? null;
  return {
    match: betterMatch(runtimeMatch, creationMatch),
    runtimeMatch,
    creationMatch,
    ...(runtime && { runtime }),
    ...(creation && { creation }),
  };
}
