import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { hashOf, textHash } from './verified-contract-identity.ts';
import { type VerifiedContract } from './verified-contract.ts';

/** How many other texts are kept beside a partial match: the first that came. */
export const MAX_ALTERNATIVES = 5;

// The transaction that asks has locked the rows of these current matches, since it tried to raise them. So the answer
// stays true until its commit: nobody shows another text, or keeps one more, meanwhile.
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
 * Which of these contracts, whose matches did not rise, are kept beside the current match: those of another text that
 * gives the code of a partial match, while there is room. An import only claims a match, so it is never kept.
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

/** Keeps contracts that {@link chooseAlternatives} chose; `evidenceIds` are the ids of their evidence, in that order. */
export async function keepAlternatives(
  transaction: Queryable,
  contracts: Contracts,
  evidenceIds: readonly string[],
): Promise<void> {
  if (contracts.length === 0) return;
  await transaction.query(KEEP, [...keyColumns(contracts), textColumn(contracts), evidenceIds]);
}

/**
 * Forgets what is kept beside contracts whose match rose: all of it where the match is full now, since its metadata hash
 * proves the one true text, else the text that is shown now.
 */
export async function dropAlternatives(
  transaction: Queryable,
  contracts: Contracts,
): Promise<void> {
  if (contracts.length === 0) return;
  await transaction.query(DROP, [...keyColumns(contracts), textColumn(contracts)]);
}

/** Forgets all that is kept beside a contract whose match became full. */
export async function dropAllAlternatives(
  transaction: Queryable,
  chainId: number,
  address: Hex,
): Promise<void> {
  await transaction.query(DROP_ALL, [chainId, hexToBytes(address)]);
}

/** Forgets some texts that are kept beside a contract's match, by their numbers. @returns whether any was still there */
export async function forgetAlternatives(
  database: Queryable,
  chainId: number,
  address: Hex,
  matchIds: readonly string[],
): Promise<boolean> {
  if (matchIds.length === 0) return false;
  const gone = await database.query(FORGET, [chainId, hexToBytes(address), matchIds]);
  return gone.length > 0;
}
