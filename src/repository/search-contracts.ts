import { bytesToHex, hexToBytes, type Hex } from '../lib/hex.ts';
import { sql, type Queryable } from '../store/database.ts';
import {
  SUMMARY_COLUMNS,
  SUMMARY_EVIDENCE,
  type SummaryPage,
  type SummaryRow,
  toPage,
} from './contract-summary.ts';

/** Where a page begins, in the words of the search that gave it, and how many contracts it holds. */
export interface SearchPage {
  readonly limit: number;
  readonly after?: string;
}

const ADDRESS_BYTES = 20;
const LAST_MATCH_ID = '9223372036854775807';
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
/** The last character of Unicode: above every ending that begins with the text before it. */
const AFTER_ALL = '\u{10FFFF}';

/** Exported for the test of its plan. */
export const SEARCH_BY_ADDRESS = sql(
  'search contracts by address',
  `SELECT ${SUMMARY_COLUMNS}
   FROM (
     SELECT * FROM current_matches
     WHERE address BETWEEN $1 AND $2 AND (address, chain_id) > ($3, $4) AND verified_contract_id IS NOT NULL
     ORDER BY address, chain_id LIMIT $5
   ) AS found
   ${SUMMARY_EVIDENCE}
   ORDER BY found.address, found.chain_id`,
);
// A contract that two words of its name find is shown for the first of them. Names come in the order of their index,
// and each has its contracts looked up only when the page still has room.
/** Exported for the test of its plan. */
export const SEARCH_BY_NAME = sql(
  'search contracts by name',
  `SELECT ${SUMMARY_COLUMNS}, ending, named.compilation_id
   FROM (
     SELECT ending, compilation_id FROM contract_names
     WHERE ending >= $1 AND ending < $2 AND (ending, compilation_id) >= ($3, $4::uuid)
       AND NOT EXISTS (
         SELECT FROM contract_names AS other WHERE other.compilation_id = contract_names.compilation_id
           AND other.ending >= $1 AND other.ending < contract_names.ending)
   ) AS named
   CROSS JOIN LATERAL (
     SELECT current_matches.*
     FROM verified_contracts
     JOIN contract_deployments ON contract_deployments.id = deployment_id
     JOIN current_matches ON current_matches.chain_id = contract_deployments.chain_id
       AND current_matches.address = contract_deployments.address AND verified_contract_id = verified_contracts.id
     WHERE verified_contracts.compilation_id = named.compilation_id
       AND ((named.ending, named.compilation_id) > ($3, $4::uuid) OR verified_contracts.id > $5::bigint)
     ORDER BY verified_contracts.id LIMIT $6
   ) AS found
   JOIN compiled_contracts ON compiled_contracts.id = named.compilation_id
   ORDER BY ending, named.compilation_id, found.verified_contract_id LIMIT $6`,
);
const FIND_CODE = sql(
  'find code by hash',
  `SELECT code_hash FROM code WHERE code_hash = $1
   UNION ALL SELECT code_hash FROM code WHERE code_hash_keccak = $1 LIMIT 1`,
);
/** Exported for the test of its plan. */
export const FIND_SAME_CODE = sql(
  'find same code',
  `SELECT ${SUMMARY_COLUMNS}
   FROM (
     SELECT * FROM current_matches
     WHERE runtime_code_hash = $1 AND verified_contract_id < $2 AND (chain_id, address) IS DISTINCT FROM ($3::bigint, $4::bytea)
     ORDER BY verified_contract_id DESC LIMIT $5
   ) AS found
   ${SUMMARY_EVIDENCE}
   ORDER BY found.verified_contract_id DESC`,
);
const READ_CODE_HASH = sql(
  'read code hash of contract',
  `SELECT runtime_code_hash FROM current_matches WHERE chain_id = $1 AND address = $2`,
);

/**
 * Contracts whose address begins with these digits (lower-case hex after `0x`), by address and chain.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function searchByAddress(
  database: Queryable,
  digits: string,
  { limit, after }: SearchPage,
): Promise<SummaryPage> {
  const [address, chainId] = after === undefined ? ['', '0'] : after.split('.');
  const rows = await database.query<SummaryRow>(SEARCH_BY_ADDRESS, [
    hexToBytes(digits.padEnd(2 * ADDRESS_BYTES, '0')),
    hexToBytes(digits.padEnd(2 * ADDRESS_BYTES, 'f')),
    hexToBytes(address ?? ''),
    chainId ?? '0',
    limit + 1,
  ]);
  return toPage(rows, limit, (last) => `${last.address.toString('hex')}.${last.chain_id}`);
}

/**
 * Contracts in whose name some word begins with this text, or the words from there on do, in any case: `proxy` and
 * `uupsp` find UUPSProxy. By that part of the name.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function searchByName(
  database: Queryable,
  text: string,
  { limit, after }: SearchPage,
): Promise<SummaryPage> {
  const begins = text.toLowerCase();
  const [id, compilation, ending] =
    after === undefined ? ['0', NIL_UUID, begins] : splitInThree(after);
  type Row = SummaryRow & { ending: string; compilation_id: string };
  const rows = await database.query<Row>(SEARCH_BY_NAME, [
    begins,
    `${begins}${AFTER_ALL}`,
    ending,
    compilation,
    id,
    limit + 1,
  ]);
  return toPage(
    rows,
    limit,
    (last) => `${last.verified_contract_id}.${last.compilation_id}.${last.ending}`,
  );
}

/** The last of the three may hold dots. */
function splitInThree(text: string): [string, string, string] {
  const [first = '', second = ''] = text.split('.', 2);
  return [first, second, text.slice(first.length + second.length + 2)];
}

/**
 * Contracts that run the code of this hash, newest first: the keccak256 of the runtime code, or the SHA-256 by which
 * the repository keeps it.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function searchByCodeHash(
  database: Queryable,
  hash: Hex,
  page: SearchPage,
): Promise<SummaryPage> {
  const [code] = await database.query<{ code_hash: Buffer }>(FIND_CODE, [hexToBytes(hash)]);
  if (code === undefined) return { results: [], next: undefined };
  return findCode(database, code.code_hash, page);
}

/**
 * The other contracts that run the runtime code of this one, on every chain, newest first; undefined where the
 * contract is not verified. Where its code is not known, as after an import, nothing is known to be the same.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function findSameCode(
  database: Queryable,
  contract: { readonly chainId: number; readonly address: Hex },
  page: SearchPage,
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
  { limit, after }: SearchPage,
  except?: { readonly chainId: number; readonly address: Hex },
): Promise<SummaryPage> {
  const rows = await database.query<SummaryRow>(FIND_SAME_CODE, [
    hash,
    after ?? LAST_MATCH_ID,
    except?.chainId ?? null,
    except === undefined ? null : hexToBytes(except.address),
    limit + 1,
  ]);
  return toPage(rows, limit, ({ verified_contract_id }) => verified_contract_id);
}
