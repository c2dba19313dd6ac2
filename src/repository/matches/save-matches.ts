import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { type EventMark } from '../../store/acknowledged-events.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { chooseAlternatives, dropAlternatives, keepAlternatives } from './alternative-matches.ts';
import { addToCounts } from '../statistics/chain-counts.ts';
import {
  type ClaimedContract,
  chooseClaims,
  deleteShownClaims,
  keepClaims,
  keepShownClaims,
} from './claimed-evidence.ts';
import { correctDeployment } from './correct-deployment.ts';
import { carriedStatement } from '../evidence/carried-statement.ts';
import { CONTRACTS } from '../evidence/evidence-rows.ts';
import { evidenceKey, type EvidenceRows, PassedRows, storeEvidence } from '../evidence/evidence.ts';
import { notifyOfMatches } from './match-notifications.ts';
import { requireCurrentReadings } from './outdated-reading.ts';
import { compilationId, deploymentId } from './verified-contract-identity.ts';
import { type Match, trustOf, type VerifiedContract } from './verified-contract.ts';

/**
 * Outcome of storing a contract. `unchanged`: its match is not better than the current one, or it is equal
 * and has another text.
 */
export interface SavedMatch {
  readonly chainId: number;
  readonly address: Hex;
  readonly outcome: 'stored' | 'upgraded' | 'unchanged';
  /** Number of the event that records the change; absent if nothing changed. */
  readonly eventNumber?: string;
  /** Set for an unchanged match whose text also compiles to the current bytecode, and was kept as an alternative. */
  readonly keptBeside?: true;
}

// The rule that a match is only ever upgraded is this one statement: concurrent writers of an address wait
// for its row; a match that is not an upgrade is not returned and changes nothing, although its row stays
// locked until the commit. An import only claims a match: a match verified here stays, and replaces a claim
// of its level, also with another text. Among matches verified here, and among claims, a text never replaces
// another one of the same level. Of two imports of the same match and text, the one with the higher trust
// stays. Matches of different bytecode are not compared: a match never replaces one of other bytecode that
// this service read. A verification that reads other bytecode withdraws the older match first.
const RAISE_MATCHES = carriedStatement(
  'raise matches',
  CONTRACTS,
  [
    ...['chain_id', 'address', 'runtime_match', 'creation_match', 'origin', 'text_hash'],
    ...['runtime_code_hash', 'trust'],
  ],
  (rows) => `INSERT INTO current_matches AS current
     (chain_id, address, runtime_match, creation_match, origin, text_hash, runtime_code_hash, trust)
   SELECT * FROM ${rows} ORDER BY chain_id, address
   ON CONFLICT (chain_id, address) DO UPDATE SET
     runtime_match = excluded.runtime_match, creation_match = excluded.creation_match,
     match_before = current.match, origin = excluded.origin, text_hash = excluded.text_hash,
     runtime_code_hash = excluded.runtime_code_hash, trust = excluded.trust, updated_at = now()
   WHERE (match_rises(current.runtime_match, current.creation_match, excluded.runtime_match, excluded.creation_match,
       current.text_hash = excluded.text_hash)
     OR current.origin = 'imported' AND excluded.origin <> 'imported'
       AND greatest(excluded.runtime_match, excluded.creation_match) >= current.match
     OR excluded.trust > current.trust AND current.text_hash = excluded.text_hash
       AND excluded.runtime_match >= current.runtime_match
       AND coalesce(excluded.creation_match >= current.creation_match, current.creation_match IS NULL))
     AND (excluded.trust >= current.trust OR greatest(excluded.runtime_match, excluded.creation_match) > current.match)
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
     (kind, chain_id, address, match_before, match_after, runtime_match, creation_match, origin, trust, verified_contract_id)
   SELECT (CASE WHEN match_before IS NULL THEN 'stored' ELSE 'upgraded' END)::match_event_kind,
     chain_id, address, match_before, match, runtime_match, creation_match, origin, trust, verified_contract_id
   FROM shown ORDER BY chain_id, address
   RETURNING id, chain_id, address, kind, extract(epoch FROM recorded_at)::text AS recorded_at`,
);

interface RaisedRow {
  chain_id: string;
  address: Buffer;
  match: Match;
  match_before: Match | null;
}

const keyOf = (chainId: number | string, address: string): string => `${chainId} ${address}`;

/** A contract to store, and its number among the rows of the batch. */
export interface NumberedContract extends ClaimedContract {
  readonly number: number;
  /** What was verified here; absent for a claim without a reading of the chain. */
  readonly judged?: VerifiedContract;
}

/**
 * Stores verified contracts in one transaction: the conditional upgrade of each match, its evidence, one
 * event each and the counts. When it returns, everything is committed. A match that is not an upgrade changes
 * nothing, and neither does an imported one if this service verified the current match.
 * @returns the outcome of each contract, in the given order
 * @throws FullmatchError `contract_changed` if a contract's {@link VerifiedContract.readAfterEvent} is
 * outdated, `database_unreachable`, `database_error`: nothing of the batch is stored then
 */
export async function saveMatches(
  database: Database,
  contracts: readonly VerifiedContract[],
): Promise<readonly SavedMatch[]> {
  return commitMatches(
    database,
    contracts.map(numberContract),
    (transaction) => new PassedRows(transaction, contracts),
  );
}

/** A change other than the match to store, and its effect on the outcome. */
export interface AdditionalChange {
  readonly saved?: SavedMatch;
}

/** Further work in the transaction that stores matches. */
export interface SameTransaction {
  /** Runs first. */
  readonly before?: (transaction: Queryable) => Promise<unknown>;
  /** Runs last if no match was upgraded; only for a single contract, whose outcome it may set. */
  readonly otherwise?: (transaction: Queryable) => Promise<AdditionalChange | undefined>;
  /** Rolls everything back, and only tells what would have been stored. */
  readonly isRehearsal?: boolean;
}

/** Ends the transaction of a rehearsal. */
class RolledBack extends Error {
  override readonly name = 'RolledBack';
  readonly saved: readonly SavedMatch[];

  constructor(saved: readonly SavedMatch[]) {
    super('a rehearsal was rolled back');
    this.saved = saved;
  }
}

/**
 * Stores contracts in one transaction like {@link saveMatches}, in whichever way their rows are passed, and
 * notifies readers.
 * @param database runs the transaction: the database, or one connection to it
 */
export async function commitMatches(
  database: Pick<Database, 'acknowledged' | 'query' | 'transaction'>,
  contracts: readonly NumberedContract[],
  rowsOf: (transaction: Queryable) => EvidenceRows,
  { before, otherwise, isRehearsal = false }: SameTransaction = {},
): Promise<readonly SavedMatch[]> {
  let marks: EventMark[] = [];
  let isMore = false;
  const saved = await database
    .transaction(async (transaction) => {
      marks = [];
      await before?.(transaction);
      const rows = rowsOf(transaction);
      const results = new Map<NumberedContract, SavedMatch>();
      for (const round of splitByAddress(contracts)) {
        for (const [contract, result] of await saveRound(transaction, rows, round, marks)) {
          results.set(contract, result);
        }
      }
      const all = contracts.map((contract) => results.get(contract) ?? unchanged(contract));
      const other = all.some(isChanged) ? undefined : await otherwise?.(transaction);
      isMore = before !== undefined || other !== undefined;
      const outcomes = other?.saved === undefined ? all : [other.saved];
      if (isRehearsal) throw new RolledBack(outcomes);
      return outcomes;
    })
    .catch((error: unknown) => {
      if (error instanceof RolledBack) return error;
      throw error;
    });
  if (saved instanceof RolledBack) return saved.saved;
  database.acknowledged.note(marks);
  if (isMore || saved.some(isChanged)) await notifyOfMatches(database);
  return saved;
}

const isChanged = ({ outcome }: SavedMatch): boolean => outcome !== 'unchanged';

/** Stores one verified contract, and further changes in the same transaction. See {@link saveMatches}. */
export async function saveMatch(
  database: Database,
  contract: VerifiedContract,
  more: SameTransaction = {},
): Promise<SavedMatch> {
  const rowsOf = (transaction: Queryable): EvidenceRows => new PassedRows(transaction, [contract]);
  const [saved] = await commitMatches(database, [numberContract(contract, 0)], rowsOf, more);
  return saved ?? unchanged(contract);
}

/** Input of the upgrade rule for a contract, in addition to its rows. */
export function numberContract(
  contract: VerifiedContract,
  number: number,
): NumberedContract & { readonly judged: VerifiedContract } {
  const { chainId, address, deployment, compilation, origin } = contract;
  return {
    ...{ number, chainId, address, judged: contract },
    deploymentId: deploymentId(contract),
    compilationId: compilationId(compilation),
    trust: trustOf(contract),
    isClaimWithCode: origin === 'imported' && deployment.claimed?.runtimeCode !== undefined,
  };
}

const unchanged = ({
  chainId,
  address,
}: Pick<NumberedContract, 'chainId' | 'address'>): SavedMatch => ({
  chainId,
  address,
  outcome: 'unchanged',
});

/** Splits a batch so that each part contains an address once: one statement cannot update a row twice. */
function splitByAddress(contracts: readonly NumberedContract[]): NumberedContract[][] {
  const rounds: NumberedContract[][] = [];
  const seen = new Map<string, number>();
  for (const contract of contracts) {
    const key = keyOf(contract.chainId, contract.address);
    const round = seen.get(key) ?? 0;
    seen.set(key, round + 1);
    (rounds[round] ??= []).push(contract);
  }
  return rounds;
}

const numbersOf = (contracts: readonly NumberedContract[]): number[] =>
  contracts.map(({ number }) => number);

/**
 * Contracts read or verified here: a claim is neither compared with the state of a chain nor kept next to
 * another one.
 */
const judgedOf = (contracts: readonly NumberedContract[]): VerifiedContract[] =>
  contracts.flatMap(({ judged }) => judged ?? []);

async function saveRound(
  transaction: Queryable,
  rows: EvidenceRows,
  contracts: readonly NumberedContract[],
  marks: EventMark[],
): Promise<Map<NumberedContract, SavedMatch>> {
  const raised = await rows.run<RaisedRow, VerifiedContract>(RAISE_MATCHES, numbersOf(contracts));
  await requireCurrentReadings(transaction, judgedOf(contracts));
  for (const contract of judgedOf(contracts)) {
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
  const others = contracts.filter((contract) => !risen.has(contract));
  const chosen = new Set(await chooseAlternatives(transaction, judgedOf(others)));
  const beside = others.filter(({ judged }) => judged !== undefined && chosen.has(judged));
  const claims = await chooseClaims(transaction, others);
  const newClaims = claims.filter(({ evidenceId }) => evidenceId === undefined);
  if (risen.size + beside.length + claims.length === 0) return new Map();
  const stored = [...risen, ...beside, ...newClaims.map(({ contract }) => contract)];
  const evidence =
    stored.length === 0 ? new Map<string, string>() : await storeEvidence(rows, numbersOf(stored));
  const evidenceIdOf = (contract: NumberedContract): string => {
    const id = evidence.get(evidenceKey(contract.deploymentId, contract.compilationId));
    if (id === undefined) throw new Error('a verdict was not stored');
    return id;
  };
  await keepAlternatives(transaction, judgedOf(beside), beside.map(evidenceIdOf));
  await keepClaims(
    transaction,
    claims,
    newClaims.map(({ contract }) => evidenceIdOf(contract)),
  );
  const kept = beside.map(
    (contract) => [contract, { ...unchanged(contract), keptBeside: true }] as const,
  );
  if (risen.size === 0) return new Map<NumberedContract, SavedMatch>(kept);
  const upgraded = changes.flatMap(({ row, contract }) =>
    row.match_before === null ? [] : [contract],
  );
  await keepShownClaims(transaction, upgraded);
  const events = await transaction.query<{
    id: string;
    chain_id: string;
    address: Buffer;
    kind: 'stored' | 'upgraded';
    recorded_at: string;
  }>(RECORD_EVENTS, [
    changes.map(({ row }) => row.chain_id),
    changes.map(({ row }) => row.address),
    changes.map(({ contract }) => evidenceIdOf(contract)),
  ]);
  marks.push(...events.map(({ id, recorded_at: recordedAt }) => ({ id, recordedAt })));
  await deleteShownClaims(transaction, [...risen], [...risen].map(evidenceIdOf));
  await dropAlternatives(transaction, judgedOf(upgraded));
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
  return new Map<NumberedContract, SavedMatch>([...kept, ...recorded]);
}
