import { type Evidence } from '../answers.ts';
import { isClaim } from './is-claim.ts';

/** A match in Fullmatch's terms. */
export type Match = 'full' | 'partial';

const NAMES: Readonly<Record<string, Match>> = { exact_match: 'full', match: 'partial' };

/** Fullmatch's term for a match of the verification API v2. */
export function matchOf(name: string | null | undefined): Match | null {
  return NAMES[name ?? ''] ?? null;
}

/** Meaning of a contract's match, in words. */
export const VERDICTS: Readonly<Record<Match, { readonly title: string; readonly text: string }>> =
  {
    full: {
      title: 'Full match',
      text: 'These are the sources it was compiled from, down to the comments: bytecode and metadata hash are identical.',
    },
    partial: {
      title: 'Partial match',
      text: 'Same bytecode, but no matching metadata hash: names, comments and settings may differ.',
    },
  };

/** How this service checked an imported match (docs/data.md). */
export const CHECKS: Readonly<Record<Evidence['trust'], string>> = {
  claimed: 'Not checked here.',
  rechecked:
    'Rechecked here: the delivered bytecode is consistent with it. Nothing was compiled, and the chain was not read.',
  recompiled: 'Recompiled here: the sources give the delivered bytecode. The chain was not read.',
  verified: 'Verified here.',
};

/** Who verified a match, and how far it was checked here. */
export type MatchSource = Pick<Evidence, 'origin' | 'trust' | 'source'>;

/**
 * Meaning of a stored match, in words.
 * @param from who verified it, if known
 */
export function describeMatch(
  match: Match,
  from: MatchSource | undefined,
): { readonly title: string; readonly text: string } {
  const { title } = VERDICTS[match];
  if (from === undefined) return { title, text: 'Who verified it could not be read.' };
  if (!isClaim(from.origin)) return VERDICTS[match];
  const { source, trust } = from;
  return {
    title: `Claimed ${title.toLowerCase()}`,
    text: `Reported as a ${title.toLowerCase()} by ${source ?? 'another service'}. ${CHECKS[trust]}`,
  };
}

/** Meaning of a match of one of the two bytecodes. */
export function describeCodeMatch(match: Match | null, origin?: string): string {
  if (isClaim(origin)) return match === null ? 'nothing is claimed' : 'claimed, not compared here';
  if (match === 'full') return 'identical, including the metadata hash';
  if (match === 'partial') return 'identical, without a matching metadata hash';
  return 'not compared, or different';
}

const ORIGINS: Readonly<Record<string, string>> = {
  verified: 'Verified here: this service compiled the sources and compared the bytecode.',
  imported: 'Imported: reported by another service and not verified again here.',
  monitored:
    'Found by the monitor and verified here: this service watched the chain, compiled the sources and compared the bytecode.',
};

/** Who verified a match, briefly for a list. */
export function nameOrigin(origin: string | null | undefined, trust?: Evidence['trust']): string {
  if (origin === 'monitored') return 'found by the monitor';
  const isChecked = trust === 'rechecked' || trust === 'recompiled';
  return isClaim(origin) && isChecked ? `imported, ${trust}` : (origin ?? '');
}

/** Who verified a match. */
export function describeOrigin(origin: string): string {
  return ORIGINS[origin] ?? origin;
}

/** Label of an imported fact that this service did not prove. */
export const CLAIMED_NOTE = 'reported by the importer, not checked here';

/** What a match does not prove, in addition to what no match of its kind proves. */
export function describeUnproven(unproven: readonly string[], language = ''): readonly string[] {
  return [
    ...(language.toLowerCase() === 'yul'
      ? [
          'The sources are Yul, which has no metadata: a match proves the code, but not the names and comments in the sources.',
        ]
      : []),
    ...(language.toLowerCase() === 'vyper' && !unproven.includes('comments')
      ? [
          'Vyper’s integrity hash covers the source texts. It does not prove the contract’s name, which is the name of its file, or the settings.',
        ]
      : []),
    ...(unproven.includes('creation')
      ? [
          'The code that created the contract differs from what these sources compile to with these settings. Values set by a constructor, such as the owner, may be different.',
        ]
      : unproven.includes('storage')
        ? ['What the constructor stored is not proven, because no matching creation code is known.']
        : []),
    ...(unproven.includes('immutables')
      ? [
          'The values of its immutables are not proven: they were read from the code on chain, and no matching creation code is known.',
        ]
      : []),
    ...(unproven.includes('libraries')
      ? ['It is not proven that the linked addresses contain the libraries from these sources.']
      : []),
    ...describeClaimed(unproven),
  ];
}

const CLAIMED = {
  transaction: 'creation transaction',
  arguments: 'constructor arguments',
} as const;

/** Claims of an import about a creation. */
function describeClaimed(unproven: readonly string[]): readonly string[] {
  const names = Object.entries(CLAIMED).flatMap(([fact, name]) =>
    unproven.includes(fact) ? [name] : [],
  );
  if (names.length === 0) return [];
  const isPlural = names.length > 1 || unproven.includes('arguments');
  return [`Its ${names.join(' and its ')} ${isPlural ? 'were' : 'was'} ${CLAIMED_NOTE}.`];
}
