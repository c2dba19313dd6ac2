import { LIBRARY_ADDRESS_IMMUTABLE } from '../bytecode/explained-value.ts';
import { type ContractMatch } from './contract-match.ts';

/** Values that were read from the code on chain, where no creation code that matches shows that they belong there. */
export type UnprovenValues = 'immutables' | 'libraries';

/**
 * What a match does not show to be that of the deployment. `storage`: what the constructor wrote, where no creation
 * code matches. `creation`: the code that created the contract is known, and it is other code than that of the sources.
 */
export type Unproven = 'names' | 'comments' | UnprovenValues | 'storage' | 'creation';

/** Which values of a running code nothing but the code itself says. */
export function unprovenValuesOf(
  values: Readonly<Record<string, unknown>> | null,
  isCreationMatched: boolean,
): readonly UnprovenValues[] {
  if (isCreationMatched) return [];
  const { immutables, libraries } = values ?? {};
  // A library's own address is known: it is where the code was read. Zeros, which older records hold, are no address.
  const unknown = Object.entries(immutables ?? {}).filter(
    ([id, value]) => id !== LIBRARY_ADDRESS_IMMUTABLE || /^0x0*$/.test(String(value)),
  );
  return [
    ...(unknown.length > 0 ? (['immutables'] as const) : []),
    ...(Object.keys(libraries ?? {}).length > 0 ? (['libraries'] as const) : []),
  ];
}

/**
 * What a match does not prove. Names and comments are in the metadata, whose hash only a full match has in its code: a
 * partial one says nothing of them, and so no match of Yul does, which has no metadata. The metadata holds the settings
 * too: that the addresses which a partial match's settings give to libraries are those of the libraries named there is
 * the word of whoever submitted them, since other libraries at the same addresses give the same codes.
 */
export function unprovenOf(
  { match, creationMatch }: Pick<ContractMatch, 'creationMatch' | 'match'>,
  runtimeValues: Readonly<Record<string, unknown>> | null,
  isCreationKnown: boolean,
  hasConfiguredLibraries: boolean,
): readonly Unproven[] {
  const values = unprovenValuesOf(runtimeValues, creationMatch !== null);
  const isClaimed = match !== 'full' && hasConfiguredLibraries && !values.includes('libraries');
  return [
    ...(match === 'full' ? [] : (['names', 'comments'] as const)),
    ...values,
    ...(isClaimed ? (['libraries'] as const) : []),
    ...(creationMatch === null ? (['storage'] as const) : []),
    ...(creationMatch === null && isCreationKnown ? (['creation'] as const) : []),
  ];
}
