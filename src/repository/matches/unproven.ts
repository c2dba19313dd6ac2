import { LIBRARY_ADDRESS_IMMUTABLE } from '../../bytecode/explained-value.ts';
import { type Match, type Origin } from './verified-contract.ts';

/** Values in the running code that nothing shows to belong there. */
export type UnprovenValues = 'immutables' | 'libraries';

/** What an import says of a creation: the transaction, and the arguments of the constructor. */
export type ClaimedFact = 'transaction' | 'arguments';

/**
 * What a match does not show to be that of the deployment. `storage`: what the constructor wrote, where no creation
 * code matches. `creation`: the code that created the contract is known, and it is other code than that of the sources.
 * `transaction` and `arguments`: see {@link claimedFactsOf}.
 */
export type Unproven =
  'names' | 'comments' | 'settings' | UnprovenValues | 'storage' | 'creation' | ClaimedFact;

/** A match, and what is known about the values in its codes. */
export interface MatchValues {
  readonly match: Match;
  readonly creationMatch: Match | null;
  readonly origin: Origin;
  /** The language of the compilation, where that is known. */
  readonly language?: string | null;
  /** The values of the running code. */
  readonly values: Readonly<Record<string, unknown>> | null;
  /** Whether the settings give addresses to libraries. */
  readonly hasConfiguredLibraries: boolean;
}

/** Whether a running code holds immutables that only creation code that matches proves. */
export function holdsImmutables(values: MatchValues['values']): boolean {
  // A library's own address is known: it is where the code was read. Zeros, which older records hold, are no address.
  return Object.entries(values?.['immutables'] ?? {}).some(
    ([id, value]) => id !== LIBRARY_ADDRESS_IMMUTABLE || /^0x0*$/.test(String(value)),
  );
}

/** Whether a metadata hash in the code that this service saw proves names, comments and settings. */
const isTextProven = ({ match, origin }: MatchValues): boolean =>
  match === 'full' && origin !== 'imported';

/** The integrity hash of Vyper is over the texts of its sources: not over their paths, by which contracts are named, and no settings. */
const isHashOfTexts = ({ language }: MatchValues): boolean => language?.toLowerCase() === 'vyper';

/**
 * Which values of a running code are not proven. Creation code that matches proves immutables. Library addresses can be
 * proven only in a full match: by creation code that matches, or by the metadata where the settings name the libraries.
 * In a partial match they are the claim of the submitter, since other libraries at the same addresses give the same
 * codes.
 */
export function unprovenValuesOf(match: MatchValues): readonly UnprovenValues[] {
  const { creationMatch, values, hasConfiguredLibraries } = match;
  const readsLibraries = Object.keys(values?.['libraries'] ?? {}).length > 0;
  const areLibrariesProven = isTextProven(match)
    ? !readsLibraries || creationMatch !== null
    : !readsLibraries && !hasConfiguredLibraries;
  return [
    ...(creationMatch === null && holdsImmutables(values) ? (['immutables'] as const) : []),
    ...(areLibrariesProven ? [] : (['libraries'] as const)),
  ];
}

function textsOf(match: MatchValues): readonly Unproven[] {
  if (!isTextProven(match)) return ['names', 'comments', 'settings'];
  return isHashOfTexts(match) ? ['names', 'settings'] : [];
}

/** The match of creation code that this service read; an import may say one of codes that nobody here has read. */
export const provenCreationMatch = (
  origin: Origin,
  creationMatch: Match | null,
  isCodeRead: boolean | null,
): Match | null => (origin === 'imported' && isCodeRead !== true ? null : creationMatch);

/** What a record says of a creation, as far as it shows by whose word. */
export interface StoredCreation {
  readonly origin: Origin;
  readonly hasTransaction: boolean;
  /** Trees name a transaction alone: whoever proves one here stores its block with it. */
  readonly hasBlock: boolean;
  readonly hasArguments: boolean;
  /** Whether a transformation places them: only creation code that was read and matched tells their offset. */
  readonly areArgumentsPlaced: boolean;
}

/** What the record of an imported match says of its creation by the word of its tree alone. */
export function claimedFactsOf(creation: StoredCreation): readonly ClaimedFact[] {
  if (creation.origin !== 'imported') return [];
  const { hasTransaction, hasBlock, hasArguments, areArgumentsPlaced } = creation;
  return [
    ...(hasTransaction && !hasBlock ? (['transaction'] as const) : []),
    ...(hasArguments && !areArgumentsPlaced ? (['arguments'] as const) : []),
  ];
}

/**
 * What a match does not prove. Names, comments and settings are in the metadata, whose hash only a full match has in its code: a
 * partial one says nothing about them, and so no match of Yul does, which has no metadata. That an imported match is full is
 * what its tree claims. A full match of Vyper proves comments alone.
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
