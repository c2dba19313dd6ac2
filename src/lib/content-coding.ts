/** A content coding of prepared bodies; `identity` means none. */
export type ContentCoding = 'identity' | 'gzip' | 'br';

/** A client's preferences: a weight from 0 (not acceptable) to 1 for each coding. */
type CodingWeights = Readonly<Record<ContentCoding, number>>;

/** Every supported coding. */
export const CODINGS: readonly ContentCoding[] = ['identity', 'gzip', 'br'];
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;
/** Weight of identity if the field does not list it: acceptable, but after everything listed (at least 0.001). */
const LAST_RESORT = 0.0001;

/** Without the field every coding is acceptable (RFC 9110, 12.5.3), but only identity is certain to be understood. */
const IDENTITY_ONLY: CodingWeights = { identity: 1, gzip: 0, br: 0 };

/**
 * Parses an Accept-Encoding field (RFC 9110, 12.5.3): `*` matches every coding that is not listed, identity
 * is acceptable unless excluded by name or by `*;q=0`, and a member with an invalid weight is ignored.
 */
export function parseAcceptEncoding(field: string | undefined): CodingWeights {
  return field === undefined ? IDENTITY_ONLY : readWeights(field);
}

function readWeights(field: string): CodingWeights {
  const named = new Map<string, number>();
  for (const member of field.split(',')) {
    const [token = '', ...parameters] = member.split(';').map((part) => part.trim());
    if (token === '') continue;
    const weight = parameters.length === 0 ? 1 : readWeight(parameters);
    // x-gzip is an alias of gzip (RFC 9110, 8.4.1.3).
    const coding = token.toLowerCase() === 'x-gzip' ? 'gzip' : token.toLowerCase();
    if (weight !== undefined) named.set(coding, Math.max(weight, named.get(coding) ?? 0));
  }
  const others = named.get('*');
  return {
    identity: named.get('identity') ?? others ?? LAST_RESORT,
    gzip: named.get('gzip') ?? others ?? 0,
    br: named.get('br') ?? others ?? 0,
  };
}

function readWeight(parameters: readonly string[]): number | undefined {
  const match = parameters.length === 1 ? WEIGHT.exec(parameters[0] ?? '') : null;
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

/**
 * Returns the available coding with the highest weight, and among equal weights the one with the shortest
 * body. Returns undefined if the client accepts none of them.
 */
export function chooseCoding(
  weights: CodingWeights,
  lengths: Readonly<Partial<Record<ContentCoding, number>>>,
): ContentCoding | undefined {
  let best: ContentCoding | undefined;
  for (const coding of CODINGS) {
    const length = lengths[coding];
    if (length === undefined || weights[coding] === 0) continue;
    if (best === undefined || weights[coding] > weights[best]) best = coding;
    else if (weights[coding] === weights[best] && length < (lengths[best] ?? 0)) best = coding;
  }
  return best;
}
