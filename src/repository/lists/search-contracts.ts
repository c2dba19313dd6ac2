import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable, type Statement } from '../../store/database.ts';
import {
  type ListQuery,
  type PageQuery,
  SUMMARY_COLUMNS,
  SUMMARY_EVIDENCE,
  type SummaryPage,
  type SummaryRow,
  toPage,
} from '../matches/contract-summary.ts';
import { firstRows, MAX_ROWS } from './first-rows.ts';

const ADDRESS_BYTES = 20;
const LAST_MATCH_ID = '9223372036854775807';
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
/** The last character of Unicode: sorts after every text with the given prefix. */
const AFTER_ALL = '\u{10FFFF}';

/**
 * Up to $2 of the first $1 candidates that satisfy the filters $3 to $6, and the last candidate, at which the
 * search continues.
 */
const search = (
  label: string,
  candidates: string,
  order: string,
  { columns = '', planning }: { readonly columns?: string; readonly planning?: 'once' } = {},
): Statement =>
  sql(
    label,
    `SELECT ${SUMMARY_COLUMNS}, found.place, found.fits ${columns}
   FROM (
     SELECT * FROM (
       SELECT candidates.*, row_number() OVER (ORDER BY ${order}) AS place,
         coalesce(chain_id = $3::bigint, true) AND coalesce(match = $4::match, true)
           AND coalesce(origin = $5::match_origin, true) AND coalesce(trust >= $6::match_trust, true) AS fits
       FROM (${firstRows(candidates, order, '$1')}) AS candidates
     ) AS judged
     WHERE fits OR place = $1 ORDER BY place LIMIT $2
   ) AS found
   ${SUMMARY_EVIDENCE}
   ORDER BY found.place`,
    planning,
  );

// The index scan begins at the row comparison, so $7 and $8 are never below the prefix.
const SEARCH_BY_ADDRESS = search(
  'search contracts by address',
  `SELECT * FROM current_matches
   WHERE (address, chain_id) > ($7, $8) AND address <= $9 AND verified_contract_id IS NOT NULL`,
  'address, chain_id',
);
// A contract that matches through two words of its name is shown for the first of them. Names are read in
// index order, and the contracts of a name are looked up only while the page has room. The scans begin at the
// cursor ($9 to $11), which is never below the text ($7).
const SEARCH_BY_NAME = search(
  'search contracts by name',
  `SELECT contracts.*, ending, named.compilation_id
   FROM (
     SELECT ending, compilation_id FROM contract_names
     WHERE (ending, compilation_id) >= ($9, $10::uuid) AND ending < $8
       AND NOT EXISTS (
         SELECT FROM contract_names AS other WHERE other.compilation_id = contract_names.compilation_id
           AND other.ending >= $7 AND other.ending < contract_names.ending)
   ) AS named
   CROSS JOIN LATERAL (${firstRows(
     `SELECT current_matches.*
     FROM verified_contracts
     JOIN contract_deployments ON contract_deployments.id = deployment_id
     JOIN current_matches ON current_matches.chain_id = contract_deployments.chain_id
       AND current_matches.address = contract_deployments.address AND verified_contract_id = verified_contracts.id
     WHERE verified_contracts.compilation_id = named.compilation_id
       AND verified_contracts.id > CASE WHEN (named.ending, named.compilation_id) = ($9, $10::uuid) THEN $11::bigint ELSE 0 END`,
     'verified_contract_id',
     '$1',
   )}
   ) AS contracts`,
  'ending, compilation_id, verified_contract_id',
  // Its twelve tables take longer to plan than a page to read.
  { columns: ', found.ending, found.compilation_id', planning: 'once' },
);
const LOWER = sql('write in lower case', 'SELECT lower($1) AS lower');
const FIND_CODE = sql(
  'find code by hash',
  `SELECT code_hash FROM code WHERE code_hash = $1
   UNION ALL SELECT code_hash FROM code WHERE code_hash_keccak = $1 LIMIT 1`,
);
const FIND_SAME_CODE = search(
  'find same code',
  `SELECT * FROM current_matches
   WHERE runtime_code_hash = $7 AND verified_contract_id < $8 AND (chain_id, address) IS DISTINCT FROM ($9::bigint, $10::bytea)`,
  'verified_contract_id DESC',
);
const FIND_CREATED = search(
  'find contracts of creation transaction',
  `SELECT current_matches.* FROM contract_deployments
   JOIN verified_contracts ON deployment_id = contract_deployments.id
   JOIN current_matches ON current_matches.verified_contract_id = verified_contracts.id
     AND current_matches.chain_id = contract_deployments.chain_id AND current_matches.address = contract_deployments.address
   WHERE transaction_hash = $7 AND verified_contracts.id < $8`,
  'verified_contract_id DESC',
);
const READ_CODE_HASH = sql(
  'read code hash of contract',
  `SELECT runtime_code_hash FROM current_matches WHERE chain_id = $1 AND address = $2`,
);

/** A candidate contract and its position. */
type FoundRow = SummaryRow & { place: string; fits: boolean };

/** The page that a statement of {@link search} finds; `values` are those of its candidates. */
async function findPage<Row extends FoundRow>(
  database: Queryable,
  statement: Statement,
  { chainId, match, origin, trust, limit }: ListQuery,
  values: readonly unknown[],
  cursorOf: (last: Row) => string,
): Promise<SummaryPage> {
  const filters = [chainId, match, origin, trust].map((filter) => filter ?? null);
  const lookedAt = filters.every((filter) => filter === null) ? limit + 1 : MAX_ROWS;
  const rows = await database.query<Row>(statement, [lookedAt, limit + 1, ...filters, ...values]);
  const page = toPage(
    rows.filter(({ fits }) => fits),
    limit,
    cursorOf,
  );
  const last = rows.at(-1);
  const isCut = page.next === undefined && Number(last?.place) === lookedAt;
  return isCut && last !== undefined ? { ...page, next: cursorOf(last) } : page;
}

/**
 * Contracts whose address begins with these digits (lower-case hex after `0x`), by address and chain. As in
 * every filtered search, a page may have fewer contracts than its limit, or none, and still have a next one.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function searchByAddress(
  database: Queryable,
  digits: string,
  question: ListQuery,
): Promise<SummaryPage> {
  const lowest = digits.padEnd(2 * ADDRESS_BYTES, '0');
  const [address = '', chainId = '0'] = question.after?.split('.') ?? [];
  const [from, afterChain] = address >= lowest ? [address, chainId] : [lowest, '0'];
  const highest = digits.padEnd(2 * ADDRESS_BYTES, 'f');
  const values = [hexToBytes(from), afterChain, hexToBytes(highest)];
  return findPage(
    database,
    SEARCH_BY_ADDRESS,
    question,
    values,
    (last) => `${last.address.toString('hex')}.${last.chain_id}`,
  );
}

/**
 * Contracts with a name in which a word, or the rest of the name from a word on, begins with this text,
 * ignoring case: `proxy` and `uupsp` find UUPSProxy. Sorted by that part of the name.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function searchByName(
  database: Queryable,
  text: string,
  question: ListQuery,
): Promise<SummaryPage> {
  const begins = await inLowerCase(database, text);
  const { after } = question;
  const first = ['0', NIL_UUID, begins] as const;
  const cursor = after === undefined ? first : splitInThree(after);
  // Suffixes are sorted by bytes.
  const isBelow = Buffer.compare(Buffer.from(cursor[2]), Buffer.from(begins)) < 0;
  const [id, compilation, ending] = isBelow ? first : cursor;
  return findPage<FoundRow & { ending: string; compilation_id: string }>(
    database,
    SEARCH_BY_NAME,
    question,
    [begins, `${begins}${AFTER_ALL}`, ending, compilation, id],
    (last) => `${last.verified_contract_id}.${last.compilation_id}.${last.ending}`,
  );
}

/** Names as the database writes them for {@link SEARCH_BY_NAME}: upper case beyond ASCII depends on its locale. */
async function inLowerCase(database: Queryable, text: string): Promise<string> {
  if (!/[^\0-\x7f]/.test(text)) return text.toLowerCase();
  const [row] = await database.query<{ lower: string }>(LOWER, [text]);
  return row?.lower ?? text;
}

/** The last of the three may contain dots. */
function splitInThree(text: string): [string, string, string] {
  const [first = '', second = ''] = text.split('.', 2);
  return [first, second, text.slice(first.length + second.length + 2)];
}

/**
 * Contracts whose runtime bytecode has this hash, newest first: its keccak256, or the SHA-256 that is its key
 * in the repository; if no bytecode has it, those that the transaction with this hash created.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function searchByHash(
  database: Queryable,
  hash: Hex,
  question: ListQuery,
): Promise<SummaryPage> {
  const [code] = await database.query<{ code_hash: Buffer }>(FIND_CODE, [hexToBytes(hash)]);
  if (code !== undefined) return findCode(database, code.code_hash, question);
  const values = [hexToBytes(hash), question.after ?? LAST_MATCH_ID];
  return findPage(database, FIND_CREATED, question, values, ({ verified_contract_id: id }) => id);
}

/**
 * Other contracts with the same runtime bytecode, on every chain, newest first; undefined if the contract is
 * not verified. If its bytecode is unknown, as after some imports, the list is empty.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function findSameCode(
  database: Queryable,
  contract: { readonly chainId: number; readonly address: Hex },
  page: PageQuery,
): Promise<(SummaryPage & { readonly codeHash: Hex | null }) | undefined> {
  const [row] = await database.query<{ runtime_code_hash: Buffer | null }>(READ_CODE_HASH, [
    contract.chainId,
    hexToBytes(contract.address),
  ]);
  if (row === undefined) return undefined;
  const { runtime_code_hash: hash } = row;
  if (hash === null) return { results: [], next: undefined, codeHash: null };
  const found = await findCode(database, hash, page, contract);
  return { ...found, codeHash: bytesToHex(hash) };
}

async function findCode(
  database: Queryable,
  hash: Buffer,
  question: ListQuery,
  except?: { readonly chainId: number; readonly address: Hex },
): Promise<SummaryPage> {
  const values = [
    hash,
    question.after ?? LAST_MATCH_ID,
    except?.chainId ?? null,
    except === undefined ? null : hexToBytes(except.address),
  ];
  return findPage(
    database,
    FIND_SAME_CODE,
    question,
    values,
    ({ verified_contract_id }) => verified_contract_id,
  );
}
