import { type Hex, hexToBytes } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Trust } from './verified-contract.ts';

const FIND_STORED = sql(
  'find stored claims',
  `SELECT candidate.number, verified_contracts.id
   FROM unnest($1::bigint[], $2::bytea[], $3::uuid[], $4::uuid[]) WITH ORDINALITY
     AS candidate (chain_id, address, deployment_id, compilation_id, number)
   JOIN current_matches AS current USING (chain_id, address)
   LEFT JOIN verified_contracts USING (deployment_id, compilation_id)
   WHERE current.origin = 'imported'
   ORDER BY number`,
);
// The current evidence of an address is not kept in addition.
const KEEP = sql(
  'keep claimed evidence',
  `INSERT INTO claimed_evidence AS kept (chain_id, address, verified_contract_id, trust)
   SELECT row.chain_id, row.address, row.verified_contract_id, row.trust
   FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::match_trust[])
     AS row (chain_id, address, verified_contract_id, trust)
   JOIN current_matches AS current USING (chain_id, address)
   WHERE current.verified_contract_id IS DISTINCT FROM row.verified_contract_id
   ORDER BY chain_id, address
   ON CONFLICT (chain_id, address, verified_contract_id) DO UPDATE SET trust = excluded.trust
     WHERE kept.trust < excluded.trust`,
);
// The rows of the current matches already have the new match, but still the evidence of the previous one.
const KEEP_SHOWN = sql(
  'keep shown claims',
  `INSERT INTO claimed_evidence (chain_id, address, verified_contract_id, trust)
   SELECT current.chain_id, current.address, current.verified_contract_id, before.trust
   FROM unnest($1::bigint[], $2::bytea[]) AS row (chain_id, address)
   JOIN current_matches AS current USING (chain_id, address)
   CROSS JOIN LATERAL (
     SELECT origin, trust_of_event(trust, origin) AS trust, verified_contract_id FROM match_events
     WHERE match_events.chain_id = row.chain_id AND match_events.address = row.address AND kind <> 'corrected'
     ORDER BY id DESC LIMIT 1
   ) AS before
   JOIN verified_contracts ON verified_contracts.id = before.verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   WHERE before.origin = 'imported' AND current.origin = 'imported' AND current.verified_contract_id = before.verified_contract_id
     AND claimed_contract_id IS NOT NULL
   ORDER BY chain_id, address
   ON CONFLICT DO NOTHING`,
);
const FORGET_SHOWN = sql(
  'forget claims that are shown',
  `DELETE FROM claimed_evidence AS kept USING unnest($1::bigint[], $2::bytea[], $3::bigint[])
     AS row (chain_id, address, verified_contract_id)
   WHERE (kept.chain_id, kept.address, kept.verified_contract_id) = (row.chain_id, row.address, row.verified_contract_id)`,
);

/** A contract, and whether its match is a claim with bytecode. */
export interface ClaimedContract {
  readonly chainId: number;
  readonly address: Hex;
  /** The ids of its deployment and of its compilation. */
  readonly deploymentId: string;
  readonly compilationId: string;
  readonly trust: Trust;
  /** Whether it is a claim that came with runtime bytecode. */
  readonly isClaimWithCode: boolean;
}
type Contracts = readonly ClaimedContract[];

const keyColumns = (contracts: Contracts): unknown[][] => [
  contracts.map(({ chainId }) => chainId),
  contracts.map(({ address }) => hexToBytes(address)),
];

/** A claim to keep, and the id of its evidence if that is stored already. */
export interface Claim<Contract extends ClaimedContract> {
  readonly contract: Contract;
  readonly evidenceId?: string;
}

/**
 * Selects the contracts, whose matches were not upgraded, to keep as additional evidence: imported ones with
 * bytecode, next to an imported match. A tree without bytecode adds nothing to the existing match.
 */
export async function chooseClaims<Contract extends ClaimedContract>(
  transaction: Queryable,
  contracts: readonly Contract[],
): Promise<readonly Claim<Contract>[]> {
  const claims = contracts.filter(({ isClaimWithCode }) => isClaimWithCode);
  if (claims.length === 0) return [];
  const rows = await transaction.query<{ number: string; id: string | null }>(FIND_STORED, [
    ...keyColumns(claims),
    claims.map((claim) => claim.deploymentId),
    claims.map((claim) => claim.compilationId),
  ]);
  return rows.flatMap(({ number, id }) => {
    const contract = claims[Number(number) - 1];
    return contract === undefined ? [] : [{ contract, ...(id !== null && { evidenceId: id }) }];
  });
}

/** Stores claims that {@link chooseClaims} selected; `newIds` are the ids of newly stored evidence, in order. */
export async function keepClaims(
  transaction: Queryable,
  claims: readonly Claim<ClaimedContract>[],
  newIds: readonly string[],
): Promise<void> {
  if (claims.length === 0) return;
  const unused = [...newIds];
  const contracts = claims.map(({ contract }) => contract);
  const ids = claims.map(({ evidenceId }) => evidenceId ?? unused.shift());
  await transaction.query(KEEP, [
    ...keyColumns(contracts),
    ids,
    contracts.map(({ trust }) => trust),
  ]);
}

/** Keeps the claims of these current matches, whose evidence is about to be replaced. */
export async function keepShownClaims(transaction: Queryable, contracts: Contracts): Promise<void> {
  if (contracts.length > 0) await transaction.query(KEEP_SHOWN, keyColumns(contracts));
}

/** Deletes the entries of additional evidence that became current. */
export async function deleteShownClaims(
  transaction: Queryable,
  contracts: Contracts,
  evidenceIds: readonly string[],
): Promise<void> {
  if (contracts.length > 0)
    await transaction.query(FORGET_SHOWN, [...keyColumns(contracts), evidenceIds]);
}
