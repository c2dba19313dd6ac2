import { type Members } from '../lib/members.ts';

/** A compilation found in the files: a standard JSON input, metadata with its sources, or plain sources. */
export type DetectedCompilation = {
  /** If the file states it. */
  readonly compilerVersion?: string;
  /** `path:Name` of the candidate contracts; a compiler's output lists all of them. */
  readonly contracts: readonly string[];
} & (
  | {
      readonly kind: 'standard_json';
      readonly input: Members;
      /** The sources that it was made for, by their project names: Hardhat 3 writes a build info for each of them. */
      readonly roots: Members;
    }
  | {
      readonly kind: 'metadata';
      readonly metadata: Members;
      readonly sources: Readonly<Record<string, string>>;
      /** Sources that the metadata lists but that are missing, by name and by content. */
      readonly missing: readonly string[];
    }
  | {
      readonly kind: 'sources';
      readonly language: 'Solidity' | 'Vyper';
      readonly sources: Readonly<Record<string, string>>;
      /** Imports that are not among the sources, before remappings; empty for Vyper, whose compiler reports them. */
      readonly missing: readonly string[];
    }
);

/** Plain sources, without any data on how they were compiled. */
export type PlainInput = Extract<DetectedCompilation, { kind: 'sources' }>;

/** Result of reading a set of files: what can be verified, or why nothing can. */
export type InputFiles =
  | {
      readonly kind: 'usable';
      /** Description of the input, such as a standard JSON input or a build info. */
      readonly from: string;
      /** At least one. */
      readonly compilations: readonly DetectedCompilation[];
      /** The contracts of all compilations. */
      readonly contracts: readonly string[];
    }
  | { readonly kind: 'unusable'; readonly reason: string };

/** Files that contain something to verify. */
export type UsableInputFiles = Extract<InputFiles, { kind: 'usable' }>;

/**
 * Converts a contract's name to its name in the input. Hardhat 3 shows a project source as
 * `contracts/Token.sol` and passes it to the compiler as `project/contracts/Token.sol`.
 * @param contract `path:Name`
 */
export function nameInInput({ compilations }: UsableInputFiles, contract: string): string {
  const colon = contract.lastIndexOf(':');
  const path = contract.slice(0, colon);
  for (const each of compilations) {
    if (each.kind !== 'standard_json' || !Object.hasOwn(each.roots, path)) continue;
    const named = each.roots[path];
    if (typeof named === 'string') return `${named}${contract.slice(colon)}`;
  }
  return contract;
}

/** Returns the compilation of a contract; if several contain it, the one made for its source. */
export function compilationOf(
  dropped: InputFiles | undefined,
  contract: string,
): DetectedCompilation | undefined {
  if (dropped?.kind !== 'usable') return undefined;
  const { compilations } = dropped;
  const path = contract.slice(0, contract.lastIndexOf(':'));
  return (
    compilations.find(
      (each) => each.kind === 'standard_json' && Object.values(each.roots).includes(path),
    ) ??
    compilations.find(({ contracts }) => contracts.includes(contract)) ??
    compilations[0]
  );
}
