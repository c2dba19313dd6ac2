import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { hashOf, textHash } from './verified-contract-identity.ts';
import { type VerifiedContract } from './verified-contract.ts';

/** Maximum number of other texts kept for a partial match, the oldest first. */
export const MAX_ALTERNATIVES = 5;

// The calling transaction has locked the rows of these current matches by trying to upgrade them, so the
// result holds until its commit: no other text becomes current, or is added, meanwhile.
const CHOOSE = sql(
  'choose alternative matches',
  `SELECT candidate.number
   FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[]) WITH ORDINALITY
     AS candidate (chain_id, address, text_hash, runtime_code_hash, number)
   JOIN current_matches AS current USING (chain_id, address)
   CROSS JOIN LATERAL (
     SELECT ARRAY(
       SELECT alternative_matches.text_hash FROM alternative_matches
       WHERE alternative_matches.chain_id = candidate.chain_id AND alternative_matches.address = candidate.address
     ) AS text_hashes
   ) AS kept
   WHERE current.match = 'partial' AND current.text_hash <> candidate.text_hash
     AND coalesce(current.runtime_code_hash = candidate.runtime_code_hash, true)
     AND NOT candidate.text_hash = ANY (kept.text_hashes) AND cardinality(kept.text_hashes) < $5`,
);
const KEEP = sql(
  'keep alternative matches',
  `INSERT INTO alternative_matches (chain_id, address, text_hash, verified_contract_id)
   SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bigint[])
     AS row (chain_id, address, text_hash, verified_contract_id)
   ORDER BY chain_id, address`,
);
const DROP = sql(
  'drop alternative matches',
  `DELETE FROM alternative_matches USING unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS row (chain_id, address, text_hash)
   JOIN current_matches AS current USING (chain_id, address)
   WHERE alternative_matches.chain_id = row.chain_id AND alternative_matches.address = row.address
     AND (current.match = 'full' OR alternative_matches.text_hash = row.text_hash)`,
);

const DROP_ALL = sql(
  'drop all alternative matches',
  'DELETE FROM alternative_matches WHERE chain_id = $1 AND address = $2',
);

const FORGET = sql(
  'forget alternative matches',
  `DELETE FROM alternative_matches
   WHERE chain_id = $1 AND address = $2 AND verified_contract_id = ANY ($3::bigint[]) RETURNING 1`,
);

type Contracts = readonly VerifiedContract[];

const keyColumns = (contracts: Contracts): unknown[][] => [
  contracts.map(({ chainId }) => chainId),
  contracts.map(({ address }) => hexToBytes(address)),
];
const textColumn = (contracts: Contracts): Buffer[] =>
  contracts.map(({ compilation }) => textHash(compilation));

/**
 * Selects the contracts, whose matches were not upgraded, to keep in addition to the current match: other
 * texts that compile to the bytecode of a partial match, while there is room. An import only claims a match,
 * so it is never kept.
 */
export async function chooseAlternatives(
  transaction: Queryable,
  contracts: Contracts,
): Promise<readonly VerifiedContract[]> {
  const judged = contracts.filter(
    ({ origin, runtimeMatch }) => origin !== 'imported' && runtimeMatch !== null,
  );
  if (judged.length === 0) return [];
  const rows = await transaction.query<{ number: string }>(CHOOSE, [
    ...keyColumns(judged),
    textColumn(judged),
    judged.map(({ deployment }) => hashOf(deployment.runtimeCode)),
    MAX_ALTERNATIVES,
  ]);
  const chosen = new Set(rows.map(({ number }) => Number(number)));
  return judged.filter((_, index) => chosen.has(index + 1));
}

/**
 * Stores contracts that {@link chooseAlternatives} selected; `evidenceIds` are the ids of their evidence, in
 * that order.
 */
export async function keepAlternatives(
  transaction: Queryable,
  contracts: Contracts,
  evidenceIds: readonly string[],
): Promise<void> {
  if (contracts.length === 0) return;
  await transaction.query(KEEP, [...keyColumns(contracts), textColumn(contracts), evidenceIds]);
}

/**
 * Deletes alternatives of contracts whose match was upgraded: all of them if the match is full now, since its
 * metadata hash proves the one true text, else the text that became current.
 */
export async function dropAlternatives(
  transaction: Queryable,
  contracts: Contracts,
): Promise<void> {
  if (contracts.length === 0) return;
  await transaction.query(DROP, [...keyColumns(contracts), textColumn(contracts)]);
}

/** Deletes all alternatives of a contract whose match became full. */
export async function dropAllAlternatives(
  transaction: Queryable,
  chainId: number,
  address: Hex,
): Promise<void> {
  await transaction.query(DROP_ALL, [chainId, hexToBytes(address)]);
}

/**
 * Deletes some alternatives of a contract's match, by number.
 * @returns whether any of them existed
 */
export async function deleteAlternatives(
  database: Queryable,
  chainId: number,
  address: Hex,
  matchIds: readonly string[],
): Promise<boolean> {
  if (matchIds.length === 0) return false;
  const gone = await database.query(FORGET, [chainId, hexToBytes(address), matchIds]);
  return gone.length > 0;
}
