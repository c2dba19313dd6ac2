import { type Database, type Queryable } from '../../store/database.ts';
import { notifyOfMatches } from './match-notifications.ts';
import { type CreationWithdrawal, withdrawCreation } from './withdraw-creation.ts';
import { type Withdrawal, withdrawWithCounts } from './withdraw-match.ts';

/** A match that the chain contradicts, or what it says of its creation. */
export type Contradiction =
  ({ readonly of: 'match' } & Withdrawal) | ({ readonly of: 'creation' } & CreationWithdrawal);

/**
 * Withdraws what the chain contradicts.
 * @returns the withdrawn matches; a match that was replaced meanwhile is not withdrawn
 */
export async function withdrawContradicted(
  transaction: Queryable,
  contradictions: readonly Contradiction[],
): Promise<readonly Contradiction[]> {
  const withdrawn: Contradiction[] = [];
  for (const each of contradictions) {
    const isWithdrawn =
      each.of === 'match'
        ? (await withdrawWithCounts(transaction, each)) !== undefined
        : await withdrawCreation(transaction, each);
    if (isWithdrawn) withdrawn.push(each);
  }
  return withdrawn;
}

/** The same in its own transaction. */
export async function settleContradictions(
  database: Database,
  contradictions: readonly Contradiction[],
): Promise<readonly Contradiction[]> {
  if (contradictions.length === 0) return [];
  const withdrawn = await database.transaction((transaction) =>
    withdrawContradicted(transaction, contradictions),
  );
  if (withdrawn.length > 0) await notifyOfMatches(database);
  return withdrawn;
}
