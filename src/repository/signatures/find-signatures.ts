import { FullmatchError } from '../../errors.ts';
import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { type SignatureKind } from '../../solidity/abi-signatures.ts';
import { SIGNATURE_CHARACTERS } from '../../solidity/parse-signature.ts';
import { sql, type Queryable } from '../../store/database.ts';

/** A signature of the database. */
export interface SignatureName {
  /** `transfer(address,uint256)` */
  readonly signature: string;
  /** Its Keccak-256 hash. */
  readonly hash: Hex;
  /** Whether a currently verified contract has it. */
  readonly isVerified: boolean;
  /** Whether contracts use another name with the same hash: see {@link findByHashes}. */
  readonly isFiltered: boolean;
}

/** Kind of hash: functions and errors by the first four bytes, or events by the whole hash. */
export type SearchedKind = 'function' | 'event';

/** Number of signatures. */
export interface SignatureTotals {
  /** Those of currently verified contracts. */
  readonly verified: Readonly<Record<SignatureKind, number>>;
  /** All others: imported, or of withdrawn matches. */
  readonly unverified: number;
}

const SELECTOR_BYTES = 4;
const HASH_BYTES = 32;
/** Names with one hash: a selector rarely has more than two. */
const NAMES_OF_HASH = 32;
/** A name is hidden if another name of its hash is in this many times as many compilations. */
const FILTERED_FACTOR = 10;
/** Maximum results of a search, and maximum names that it examines. */
const MAX_FOUND = 100;
const MAX_EXAMINED = 20_000;
/** Characters of names times those of the pattern: each may be compared with each, so this is about half a second. */
const MAX_COMPARED = 2 ** 26;
/** Each may double the cost of comparing a text. */
const MAX_WILDCARDS = 8;
const MAX_PATTERN_CHARACTERS = 256;
const EVENT_INPUTS = 8;

/** Stored kinds of each searched kind. Selectors of functions and errors look the same. */
const KINDS: Readonly<Record<SearchedKind, readonly SignatureKind[]>> = {
  function: ['function', 'error'],
  event: ['event'],
};

const FIND_BY_HASHES = sql(
  'find signatures by hashes',
  `SELECT begin, signature_hash, signature, compilations FROM unnest($1::bytea[], $2::bytea[]) AS requested (begin, until)
   CROSS JOIN LATERAL (
     SELECT signature_hash, signature, sum(compilations)::float8 AS compilations FROM signatures
     WHERE signature_hash BETWEEN begin AND until AND kind = ANY ($3::text[])
     GROUP BY signature_hash, signature ORDER BY sum(compilations) DESC, signature LIMIT ${NAMES_OF_HASH}
   ) AS found`,
);
// The first statement ends as soon as enough is found; the second tells how many of the names may be
// compared.
const BEGUN = `SELECT signature, signature_hash, kind FROM signatures WHERE signature >= $1 AND signature < $2
  ORDER BY signature, kind`;
const SEARCH = sql(
  'search signatures',
  `SELECT signature, signature_hash, kind FROM (${BEGUN} LIMIT $4) AS begun
   WHERE signature LIKE $3 ORDER BY signature, kind LIMIT ${MAX_FOUND}`,
);
const COUNT_BEGUN = sql(
  'count signatures that are begun',
  `SELECT count(*)::float8 AS begun, (count(*) FILTER (WHERE characters <= $3))::float8 AS fitting FROM (
     SELECT sum(octet_length(signature)) OVER (ORDER BY signature, kind ROWS UNBOUNDED PRECEDING) AS characters
     FROM (${BEGUN} LIMIT ${MAX_EXAMINED + 1}) AS begun
   ) AS counted`,
);
const READ_TOTALS = sql(
  'read signature totals',
  'SELECT kind, verified::float8 AS verified, unverified::float8 AS unverified FROM signature_totals',
);
const FIND_EVENT_INPUTS = sql(
  'find event inputs',
  `SELECT requested.hash, found.signature, found.inputs FROM unnest($1::bytea[]) AS requested (hash)
   CROSS JOIN LATERAL (
     SELECT signature, inputs FROM event_inputs JOIN signatures USING (signature_hash)
     WHERE signature_hash = requested.hash AND kind = 'event' AND compilations > 0
     ORDER BY indexed LIMIT ${EVENT_INPUTS}
   ) AS found`,
);

interface NameRow {
  readonly begin: Buffer;
  readonly signature_hash: Buffer;
  readonly signature: string;
  readonly compilations: number;
}

/**
 * Names of hashes, most compilations first. If several share a hash, one is hidden if another outnumbers it
 * ten times in compilations of verified contracts; imported names are hidden if a verified contract has the
 * other.
 * @param hashes of 4 bytes for functions and errors, of 32 bytes for events
 * @returns the names of each hash
 */
export async function findByHashes(
  database: Queryable,
  kind: SearchedKind,
  hashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, readonly SignatureName[]>> {
  const found = new Map<Hex, SignatureName[]>(hashes.map((hash) => [hash, []]));
  if (hashes.length === 0) return found;
  const begins = [...found.keys()].map(hexToBytes);
  const fill = (bytes: Buffer, byte: number): Buffer =>
    Buffer.concat([bytes, Buffer.alloc(HASH_BYTES - bytes.length, byte)]);
  const rows = await database.query<NameRow>(FIND_BY_HASHES, [
    begins.map((bytes) => fill(bytes, 0)),
    begins.map((bytes) => fill(bytes, 0xff)),
    KINDS[kind],
  ]);
  const most = new Map<string, number>();
  for (const { begin, signature_hash, signature, compilations } of rows) {
    const key = keyOf(kind, begin);
    const best = Math.max(most.get(key) ?? 0, compilations);
    most.set(key, best);
    found.get(key)?.push({
      ...{ signature, hash: bytesToHex(signature_hash), isVerified: compilations > 0 },
      isFiltered: compilations * FILTERED_FACTOR < best,
    });
  }
  return found;
}

function keyOf(kind: SearchedKind, hash: Buffer): Hex {
  return bytesToHex(kind === 'function' ? hash.subarray(0, SELECTOR_BYTES) : hash);
}

/** Results of a pattern search: functions and errors by selector, events by hash. */
export type FoundSignatures = Readonly<
  Record<SearchedKind, ReadonlyMap<Hex, readonly SignatureName[]>>
>;

interface FoundRow {
  readonly signature: string;
  readonly signature_hash: Buffer;
  readonly kind: string;
}

/**
 * Signatures that match a pattern, a hundred at most, in alphabetical order. `*` stands for any characters,
 * `?` for one; case-sensitive.
 * @throws FullmatchError invalid_parameter; search_too_broad if too many names would have to be compared
 */
export async function searchByPattern(
  database: Queryable,
  pattern: string,
): Promise<FoundSignatures> {
  const [begin, until, like] = readPattern(pattern);
  const readRows = (mostNames: number): Promise<readonly FoundRow[]> =>
    database.query<FoundRow>(SEARCH, [begin, until, like, mostNames]);
  const mostCharacters = Math.floor(MAX_COMPARED / like.length);
  // This many may be compared, however long they are.
  const alwaysAllowed = Math.min(MAX_EXAMINED, Math.floor(mostCharacters / SIGNATURE_CHARACTERS));
  let rows = await readRows(alwaysAllowed);
  if (rows.length < MAX_FOUND) {
    const [counted] = await database.query<{ begun: number; fitting: number }>(COUNT_BEGUN, [
      ...[begin, until, mostCharacters],
    ]);
    const { begun, fitting } = counted ?? { begun: 0, fitting: 0 };
    const most = Math.min(MAX_EXAMINED, fitting);
    if (Math.min(begun, most) > alwaysAllowed) rows = await readRows(most);
    if (rows.length < MAX_FOUND && begun > most) {
      throw new FullmatchError(
        'search_too_broad',
        `Too many or too long signatures begin with ${JSON.stringify(begin)}; write more of the name before the first wildcard.`,
      );
    }
  }
  const texts = new Set(rows.map(({ signature }) => signature));
  const namesOf = async (kind: SearchedKind) => {
    const fitting = rows.filter((row) => (KINDS[kind] as readonly string[]).includes(row.kind));
    const hashes = fitting.map(({ signature_hash }) => keyOf(kind, signature_hash));
    const all = await findByHashes(database, kind, hashes);
    return new Map(
      [...all].map(([hash, names]) => [hash, names.filter((name) => texts.has(name.signature))]),
    );
  };
  return { function: await namesOf('function'), event: await namesOf('event') };
}

/** The prefix of matching texts, their upper bound, and the pattern in SQL syntax. */
function readPattern(pattern: string): readonly [begin: string, until: string, like: string] {
  const wild = pattern.replaceAll(/\*+/g, '*');
  const [begin = ''] = /^[^*?]*/.exec(wild) ?? [];
  const isText = /^[A-Za-z_$][\w$(),.[\] *?]*$/.test(wild);
  const wildcards = wild.split(/[*?]/).length - 1;
  const isOpen = wild.includes('*') && wildcards > MAX_WILDCARDS;
  if (!isText || begin === '' || wild.length > MAX_PATTERN_CHARACTERS || isOpen) {
    throw new FullmatchError(
      'invalid_parameter',
      `query: the beginning of a signature is expected, with * and ? behind it, in at most ${MAX_PATTERN_CHARACTERS} characters and with at most ${MAX_WILDCARDS} wildcards.`,
      { details: { parameter: 'query' } },
    );
  }
  const next = String.fromCharCode(begin.charCodeAt(begin.length - 1) + 1);
  const like = wild.replaceAll('_', '\\_').replaceAll('?', '_').replaceAll('*', '%');
  return [begin, begin.slice(0, -1) + next, like];
}

/** Number of signatures. */
export async function readTotals(database: Queryable): Promise<SignatureTotals> {
  const rows = await database.query<{ kind: SignatureKind; verified: number; unverified: number }>(
    READ_TOTALS,
  );
  const verifiedOf = (kind: SignatureKind): number =>
    rows.find((row) => row.kind === kind)?.verified ?? 0;
  return {
    verified: {
      ...{ function: verifiedOf('function'), event: verifiedOf('event') },
      error: verifiedOf('error'),
    },
    unverified: rows.reduce((sum, { unverified }) => sum + unverified, 0),
  };
}

/** Declaration of an event by a verified contract. */
export interface EventInputs {
  readonly signature: string;
  /** As in the JSON ABI. */
  readonly inputs: readonly Readonly<Record<string, unknown>>[];
}

/** Declarations of events by hash: those of verified contracts, one for each choice of indexed parameters. */
export async function findEventInputs(
  database: Queryable,
  hashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, readonly EventInputs[]>> {
  const found = new Map<Hex, EventInputs[]>(hashes.map((hash) => [hash, []]));
  const rows = await database.query<EventInputs & { hash: Buffer }>(FIND_EVENT_INPUTS, [
    [...found.keys()].map(hexToBytes),
  ]);
  for (const { hash, signature, inputs } of rows) {
    found.get(bytesToHex(hash))?.push({ signature, inputs });
  }
  return found;
}
