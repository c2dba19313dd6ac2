/** A match by our name for it. */
export type Match = 'full' | 'partial';

const NAMES: Readonly<Record<string, Match>> = { exact_match: 'full', match: 'partial' };

/** Our name for a match of the verification API v2. */
export function matchOf(name: string | null | undefined): Match | null {
  return NAMES[name ?? ''] ?? null;
}

/** What a match of the whole contract means, in words. */
export const VERDICTS: Readonly<Record<Match, { readonly title: string; readonly text: string }>> =
  {
    full: {
      title: 'Full match',
      text: 'Code and metadata are identical: these are the sources that the contract was compiled from, to the last comment.',
    },
    partial: {
      title: 'Partial match',
      text: 'The code is identical; names, comments and settings are not proven, since the code does not hold the hash of this metadata.',
    },
  };

/** The same where another service judged, and this one took its word. */
const CLAIMS: typeof VERDICTS = {
  full: {
    title: 'Claimed full match',
    text: 'Another service says that code and metadata are identical. This service compiled and compared nothing.',
  },
  partial: {
    title: 'Claimed partial match',
    text: 'Another service says that the code is identical, and nothing of names, comments and settings. This service compiled and compared nothing.',
  },
};

/** Whether a match is the word of another service. */
export const isClaim = (origin: string | null | undefined): boolean => origin === 'imported';

/** What a stored match means, in words. @param origin who judged it, where that is known. */
export function describeMatch(
  match: Match,
  origin: string | undefined,
): { readonly title: string; readonly text: string } {
  if (isClaim(origin)) return CLAIMS[match];
  if (origin !== undefined) return VERDICTS[match];
  return { title: VERDICTS[match].title, text: 'Who judged it could not be read.' };
}

/** What a match of one of the two codes means. */
export function describeCodeMatch(match: Match | null, origin?: string): string {
  if (isClaim(origin)) return match === null ? 'nothing is claimed' : 'claimed, not compared here';
  if (match === 'full') return 'identical, with the hash of this metadata in it';
  if (match === 'partial') return 'identical but for the hash of the metadata';
  return 'not compared, or different';
}

const ORIGINS: Readonly<Record<string, string>> = {
  verified: 'Verified here: this service compiled the sources and compared the bytecode.',
  imported:
    'Imported: another service judged this match, and this one took it over without judging it again.',
  monitored:
    'Found by the monitor and verified here: this service watched the chain, compiled the sources and compared the bytecode.',
};

/** Who judged a match, in a few words for a list. */
export function nameOrigin(origin: string | null | undefined): string {
  return origin === 'monitored' ? 'found by the monitor' : (origin ?? '');
}

/** Who judged a match. */
export function describeOrigin(origin: string): string {
  return ORIGINS[origin] ?? origin;
}

/** How a fact of an import is shown that this service did not prove. */
export const CLAIMED_NOTE = 'reported by the importer, not checked here';

/** What a match does not prove, beside what every match of its kind does not. */
export function describeUnproven(unproven: readonly string[], language = ''): readonly string[] {
  return [
    ...(language.toLowerCase() === 'yul'
      ? [
          'The sources are Yul, which has no metadata: a match proves the code, and no name or comment in the sources.',
        ]
      : []),
    ...(language.toLowerCase() === 'vyper' && !unproven.includes('comments')
      ? [
          'The integrity hash of Vyper is over the texts of the sources: it proves neither the name of the contract, which is that of its file, nor the settings.',
        ]
      : []),
    ...(unproven.includes('creation')
      ? [
          'Other code than that of these sources created the contract. Whatever its constructor would have set, such as an owner, may be something else.',
        ]
      : unproven.includes('storage')
        ? ['What the constructor stored is not proven: no creation code that matches is known.']
        : []),
    ...(unproven.includes('immutables')
      ? [
          'The values of its immutables are not proven: they were read from the code on chain, and no creation code that matches is known.',
        ]
      : []),
    ...(unproven.includes('libraries')
      ? ['Nothing proves that the addresses that the code links hold the libraries of the sources.']
      : []),
    ...describeClaimed(unproven),
  ];
}

const CLAIMED = {
  transaction: 'creation transaction',
  arguments: 'constructor arguments',
} as const;

/** What an import says of a creation. */
function describeClaimed(unproven: readonly string[]): readonly string[] {
  const names = Object.entries(CLAIMED).flatMap(([fact, name]) =>
    unproven.includes(fact) ? [name] : [],
  );
  if (names.length === 0) return [];
  const isPlural = names.length > 1 || unproven.includes('arguments');
  return [`Its ${names.join(' and its ')} ${isPlural ? 'were' : 'was'} ${CLAIMED_NOTE}.`];
}
