import { LIBRARY_ADDRESS_IMMUTABLE } from '../../bytecode/explained-value.ts';
import { type Match, type Origin } from './verified-contract.ts';

/** Values in the runtime bytecode that nothing proves to belong there. */
export type UnprovenValues = 'immutables' | 'libraries';

/** Claims of an import about a creation: the transaction, and the constructor arguments. */
export type ClaimedFact = 'transaction' | 'arguments';

/**
 * What a match does not prove about the deployment. `storage`: what the constructor wrote, if no creation
 * bytecode matches. `creation`: the creation bytecode is known, and differs from that of the sources.
 * `transaction` and `arguments`: see {@link claimedFactsOf}.
 */
export type Unproven =
  'names' | 'comments' | 'settings' | UnprovenValues | 'storage' | 'creation' | ClaimedFact;

/** A match, and what is known about the values in its bytecode. */
export interface MatchValues {
  readonly match: Match;
  readonly creationMatch: Match | null;
  readonly origin: Origin;
  /** Language of the compilation, if known. */
  readonly language?: string | null;
  /** Values in the runtime bytecode. */
  readonly values: Readonly<Record<string, unknown>> | null;
  /** Whether the settings contain addresses of libraries. */
  readonly hasConfiguredLibraries: boolean;
}

/** Whether runtime bytecode contains immutables, which only matching creation bytecode proves. */
export function containsImmutables(values: MatchValues['values']): boolean {
  // A library's own address is known: it is where the code was read. Zeros, which older records contain, are
  // not an address.
  return Object.entries(values?.['immutables'] ?? {}).some(
    ([id, value]) => id !== LIBRARY_ADDRESS_IMMUTABLE || /^0x0*$/.test(String(value)),
  );
}

/** Whether a metadata hash in bytecode that this service read proves names, comments and settings. */
const isTextProven = ({ match, origin }: MatchValues): boolean =>
  match === 'full' && origin !== 'imported';

/**
 * The integrity hash of Vyper covers the texts of its sources: not their paths, which name contracts, and no
 * settings.
 */
const isHashOfTexts = ({ language }: MatchValues): boolean => language?.toLowerCase() === 'vyper';

/**
 * Values in runtime bytecode that are not proven. Matching creation bytecode proves immutables. Library
 * addresses can be proven only in a full match: by matching creation bytecode, or by the metadata if the
 * settings name the libraries. In a partial match they are the claim of the submitter, since other libraries
 * at the same addresses give the same bytecode.
 */
export function unprovenValuesOf(match: MatchValues): readonly UnprovenValues[] {
  const { creationMatch, values, hasConfiguredLibraries } = match;
  const readsLibraries = Object.keys(values?.['libraries'] ?? {}).length > 0;
  const areLibrariesProven = isTextProven(match)
    ? !readsLibraries || creationMatch !== null
    : !readsLibraries && !hasConfiguredLibraries;
  return [
    ...(creationMatch === null && containsImmutables(values) ? (['immutables'] as const) : []),
    ...(areLibrariesProven ? [] : (['libraries'] as const)),
  ];
}

function textsOf(match: MatchValues): readonly Unproven[] {
  if (!isTextProven(match)) return ['names', 'comments', 'settings'];
  return isHashOfTexts(match) ? ['names', 'settings'] : [];
}

/**
 * The match of creation bytecode that this service read; an import may claim one of bytecode that was not
 * read here.
 */
export const provenCreationMatch = (
  origin: Origin,
  creationMatch: Match | null,
  isCodeRead: boolean | null,
): Match | null => (origin === 'imported' && isCodeRead !== true ? null : creationMatch);

/** A record's statements about a creation, with their provenance. */
export interface StoredCreation {
  readonly origin: Origin;
  readonly hasTransaction: boolean;
  /** Trees name only a transaction: whoever proves one here stores its block with it. */
  readonly hasBlock: boolean;
  readonly hasArguments: boolean;
  /** Whether a transformation places them: only creation bytecode that was read and matched tells their offset. */
  readonly areArgumentsPlaced: boolean;
}

/** What the record of an imported match states about its creation only because its tree does. */
export function claimedFactsOf(creation: StoredCreation): readonly ClaimedFact[] {
  if (creation.origin !== 'imported') return [];
  const { hasTransaction, hasBlock, hasArguments, areArgumentsPlaced } = creation;
  return [
    ...(hasTransaction && !hasBlock ? (['transaction'] as const) : []),
    ...(hasArguments && !areArgumentsPlaced ? (['arguments'] as const) : []),
  ];
}

/**
 * What a match does not prove. Names, comments and settings are in the metadata, whose hash is in the
 * bytecode only for a full match: a partial one proves nothing about them, and neither does a match of Yul,
 * which has no metadata. That an imported match is full is a claim of its tree. A full match of Vyper proves
 * comments only.
 */
export function unprovenOf(
  match: MatchValues,
  isCreationKnown: boolean,
  claimed: readonly ClaimedFact[] = [],
): readonly Unproven[] {
  return [
    ...textsOf(match),
    ...unprovenValuesOf(match),
    ...(match.creationMatch === null ? (['storage'] as const) : []),
    ...(match.creationMatch === null && isCreationKnown ? (['creation'] as const) : []),
    ...claimed,
  ];
}
