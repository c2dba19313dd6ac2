import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { chooseAlternatives, dropAlternatives, keepAlternatives } from './alternative-matches.ts';
import { addToCounts } from '../statistics/chain-counts.ts';
import { correctDeployment } from './correct-deployment.ts';
import { storeEvidence } from '../evidence/evidence.ts';
import { notifyOfMatches } from './match-notifications.ts';
import { requireCurrentReadings } from './outdated-reading.ts';
import { hashOf, textHash } from './verified-contract-identity.ts';
import { type Match, type VerifiedContract } from './verified-contract.ts';

/**
 * The outcome of storing a contract. `unchanged`: its match is not better than the current one, or it is
 * as good and shows another text.
 */
export interface SavedMatch {
  readonly chainId: number;
  readonly address: Hex;
  readonly outcome: 'stored' | 'upgraded' | 'unchanged';
  /** The number of the event that records the change; absent where nothing changed. */
  readonly eventNumber?: string;
  /** Set on an unchanged match whose text also gives the current code, and was kept beside the shown text. */
  readonly keptBeside?: true;
}

// The law "a match only rises" is this one statement: concurrent writers of an address wait for its row, and what does
// not rise is not returned and changes nothing. Its row stays locked until the commit all the same.
// An import only claims a match: whatever was judged here stays. A full match takes the place of a claim of one, also with
// another text, and the same text takes the place of its claim; at a partial level nobody's text replaces another's.
// Matches of different codes are not compared: a match never replaces one of other code that this service read. A
// verification that reads other code withdraws the older match first.
const RAISE_MATCHES = sql(
  'raise matches',
  `INSERT INTO current_matches AS current
     (chain_id, address, runtime_match, creation_match, origin, text_hash, runtime_code_hash)
   SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::match[], $4::match[], $5::match_origin[], $6::bytea[], $7::bytea[])
     AS row (chain_id, address, runtime_match, creation_match, origin, text_hash, runtime_code_hash)
   ORDER BY chain_id, address
   ON CONFLICT (chain_id, address) DO UPDATE SET
     runtime_match = excluded.runtime_match, creation_match = excluded.creation_match,
     match_before = current.match, origin = excluded.origin, text_hash = excluded.text_hash,
     runtime_code_hash = excluded.runtime_code_hash, updated_at = now()
   WHERE (match_rises(current.runtime_match, current.creation_match, excluded.runtime_match, excluded.creation_match,
       current.text_hash = excluded.text_hash)
     OR current.origin = 'imported' AND excluded.origin <> 'imported'
       AND greatest(excluded.runtime_match, excluded.creation_match) >= current.match
       AND (current.text_hash = excluded.text_hash
         OR greatest(excluded.runtime_match, excluded.creation_match) = 'full'))
     AND (excluded.origin <> 'imported' OR current.origin = 'imported' AND NOT EXISTS (
       SELECT FROM alternative_matches AS judged
       WHERE judged.chain_id = current.chain_id AND judged.address = current.address))
     AND (current.origin = 'imported' OR coalesce(current.runtime_code_hash = excluded.runtime_code_hash, true))
   RETURNING chain_id, address, match, match_before`,
);
const RECORD_EVENTS = sql(
  'record events',
  `WITH change AS (
     SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[]) AS row (chain_id, address, verified_contract_id)
   ), shown AS (
     UPDATE current_matches AS current
     SET verified_contract_id = change.verified_contract_id
     FROM change WHERE current.chain_id = change.chain_id AND current.address = change.address
     RETURNING current.*
   )
   INSERT INTO match_events
     (kind, chain_id, address, match_before, match_after, runtime_match, creation_match, origin, verified_contract_id)
   SELECT (CASE WHEN match_before IS NULL THEN 'stored' ELSE 'upgraded' END)::match_event_kind,
     chain_id, address, match_before, match, runtime_match, creation_match, origin, verified_contract_id
   FROM shown ORDER BY chain_id, address
   RETURNING id, chain_id, address, kind`,
);

interface RaisedRow {
  chain_id: string;
  address: Buffer;
  match: Match;
  match_before: Match | null;
}

const keyOf = (chainId: number | string, address: string): string => `${chainId} ${address}`;

/**
 * Stores verified contracts: in one transaction the conditional rise of each match, its evidence, one event each
 * and the counts. When it returns, all of it is committed. A match that would not rise changes nothing, and neither does
 * an imported one where this service judged the current match itself.
 * @returns the outcome of each contract, in the order given.
 * @throws FullmatchError `contract_changed` where a contract's {@link VerifiedContract.readAfterEvent} is outdated,
 * `database_unreachable`, `database_error`: then nothing of the batch is stored.
 */
export async function saveMatches(
  database: Database,
  contracts: readonly VerifiedContract[],
): Promise<readonly SavedMatch[]> {
  const saved = await database.transaction(async (transaction) => {
    const results = new Map<VerifiedContract, SavedMatch>();
    for (const round of splitByAddress(contracts)) {
      for (const [contract, result] of await saveRound(transaction, round)) {
        results.set(contract, result);
      }
    }
    return contracts.map((contract) => results.get(contract) ?? unchanged(contract));
  });
  if (saved.some(({ outcome }) => outcome !== 'unchanged')) await notifyOfMatches(database);
  return saved;
}

/** Stores one verified contract. See {@link saveMatches}. */
export async function saveMatch(
  database: Database,
  contract: VerifiedContract,
): Promise<SavedMatch> {
  const [saved] = await saveMatches(database, [contract]);
  return saved ?? unchanged(contract);
}

const unchanged = ({ chainId, address }: VerifiedContract): SavedMatch => ({
  chainId,
  address,
  outcome: 'unchanged',
});

/** Splits a batch so that each part holds an address once: one statement cannot raise a row twice. */
function splitByAddress(contracts: readonly VerifiedContract[]): VerifiedContract[][] {
  const rounds: Map<string, VerifiedContract>[] = [];
  for (const contract of contracts) {
    const key = keyOf(contract.chainId, contract.address);
    let round = rounds.find((candidate) => !candidate.has(key));
    if (round === undefined) {
      round = new Map<string, VerifiedContract>();
      rounds.push(round);
    }
    round.set(key, contract);
  }
  return rounds.map((round) => [...round.values()]);
}

async function saveRound(
  transaction: Queryable,
  contracts: readonly VerifiedContract[],
): Promise<Map<VerifiedContract, SavedMatch>> {
  const raised = await transaction.query<RaisedRow>(RAISE_MATCHES, [
    contracts.map(({ chainId }) => chainId),
    contracts.map(({ address }) => hexToBytes(address)),
    contracts.map(({ runtimeMatch }) => runtimeMatch),
    contracts.map(({ creationMatch }) => creationMatch),
    contracts.map(({ origin }) => origin),
    contracts.map(({ compilation }) => textHash(compilation)),
    contracts.map(({ deployment }) => hashOf(deployment.runtimeCode)),
  ]);
  await requireCurrentReadings(transaction, contracts);
  for (const contract of contracts) {
    if (contract.readAfterEvent !== undefined) await correctDeployment(transaction, contract);
  }
  const byKey = new Map(
    contracts.map((contract) => [keyOf(contract.chainId, contract.address), contract]),
  );
  const changes = raised.flatMap((row) => {
    const contract = byKey.get(keyOf(row.chain_id, bytesToHex(row.address)));
    return contract === undefined ? [] : [{ row, contract }];
  });
  const risen = new Set(changes.map(({ contract }) => contract));
  const beside = await chooseAlternatives(
    transaction,
    contracts.filter((contract) => !risen.has(contract)),
  );
  if (risen.size + beside.length === 0) return new Map();
  const evidenceIds = await storeEvidence(transaction, [...risen, ...beside]);
  await keepAlternatives(transaction, beside, evidenceIds.slice(risen.size));
  const kept = beside.map(
    (contract) => [contract, { ...unchanged(contract), keptBeside: true }] as const,
  );
  if (risen.size === 0) return new Map<VerifiedContract, SavedMatch>(kept);
  const events = await transaction.query<{
    id: string;
    chain_id: string;
    address: Buffer;
    kind: 'stored' | 'upgraded';
  }>(RECORD_EVENTS, [
    changes.map(({ row }) => row.chain_id),
    changes.map(({ row }) => row.address),
    evidenceIds.slice(0, risen.size),
  ]);
  await dropAlternatives(
    transaction,
    changes.flatMap(({ row, contract }) => (row.match_before === null ? [] : [contract])),
  );
  await addToCounts(
    transaction,
    changes.map(({ row, contract }) => ({
      chainId: contract.chainId,
      before: row.match_before,
      after: row.match,
    })),
  );
  const recorded = events.flatMap((event) => {
    const address = bytesToHex(event.address);
    const contract = byKey.get(keyOf(event.chain_id, address));
    if (contract === undefined) return [];
    const { chainId } = contract;
    return [[contract, { chainId, address, outcome: event.kind, eventNumber: event.id }] as const];
  });
  return new Map<VerifiedContract, SavedMatch>([...kept, ...recorded]);
}
