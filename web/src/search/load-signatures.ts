import { type FoundSignatures } from '../../../client/src/schemas.ts';
import { type Api, type Loaded } from '../api.ts';
import { isSelector, isTopic, mayBeSignature } from './search-words.ts';

/** A signature in the search results. */
export interface FoundSignature {
  readonly signature: string;
  readonly kind: 'function or error' | 'event' | 'any';
  /** Selector of a function or an error, topic of an event; a signature of any kind has both. */
  readonly hashes: readonly string[];
  /** Whether a verified contract of this service has it. */
  readonly isVerified: boolean;
}

/**
 * Reads the known signatures of a selector, a topic or a signature. A signature that is not known is listed
 * with the hashes it would have.
 * @returns null if the text is none of these
 */
export async function loadSignatures(
  api: Api,
  words: string,
): Promise<Loaded<readonly FoundSignature[]> | null> {
  if (isSelector(words)) return lookUp(api, { selector: words.toLowerCase() });
  if (isTopic(words)) return lookUp(api, { topic: words.toLowerCase() });
  if (!mayBeSignature(words)) return null;
  // Only a page that needs the hash function loads it.
  const { hashSignature } = await import('./signature-words.ts');
  const hashed = hashSignature(words);
  if (hashed === undefined) return null;
  const { signature, selector, topic } = hashed;
  const found = await lookUp(api, hashed);
  if (found.state === 'failed') return found;
  const known = found.value.filter((each) => each.signature === signature);
  const others = found.value.filter((each) => each.signature !== signature);
  const unknown = { signature, kind: 'any', hashes: [selector, topic], isVerified: false } as const;
  return { ...found, value: [...(known.length === 0 ? [unknown] : known), ...others] };
}

async function lookUp(
  api: Api,
  { selector, topic }: { readonly selector?: string; readonly topic?: string },
): Promise<Loaded<readonly FoundSignature[]>> {
  const query = new URLSearchParams({
    ...(selector !== undefined && { function: selector }),
    ...(topic !== undefined && { event: topic }),
  });
  const found = await api.get<FoundSignatures>(`signature-database/v1/lookup?${query.toString()}`);
  if (found.state === 'failed') return found;
  const { function: functions, event: events } = found.value.result;
  const list = (
    kind: 'function or error' | 'event',
    byHash: FoundSignatures['result']['function'],
  ): FoundSignature[] =>
    Object.entries(byHash).flatMap(([hash, names]) =>
      (names ?? []).map(({ name, hasVerifiedContract }) => ({
        ...{ signature: name, kind, hashes: [hash], isVerified: hasVerifiedContract },
      })),
    );
  return { ...found, value: [...list('function or error', functions), ...list('event', events)] };
}
