import { FullmatchError, messageOf } from '../errors.ts';
import { printableText } from '../lib/printable-text.ts';
import { type Hex } from '../lib/hex.ts';
import { type SavedMatch } from '../repository/repository.ts';
import { Refusal } from './refusal.ts';

/** Outcome of one contract of a batch: stored with outcome `saved`, or refused by the database. */
export type BatchOutcome = { readonly saved: SavedMatch } | { readonly refusal: Refusal };

// SQLSTATE classes caused by the values: 22 data exception, 23 constraint violation, 54 program limit
// exceeded.
const VALUE_CLASSES = new Set(['22', '23', '54']);

/**
 * Returns whether an error may be caused by the contract's data. An unreachable, full or read-only database
 * would refuse every contract, so it ends the run.
 */
function mayBlameContract(error: unknown): boolean {
  if (!(error instanceof FullmatchError)) return true;
  const sqlstate = error.details['sqlstate'];
  return (
    error.code === 'database_error' &&
    typeof sqlstate === 'string' &&
    VALUE_CLASSES.has(sqlstate.slice(0, 2))
  );
}

/**
 * Saves a batch in one transaction. If it fails because of a contract, each half is retried by itself,
 * recursively, until only that contract is refused and all others are stored.
 * @param save stores its whole argument or nothing, and returns the outcomes in the same order
 * @returns the outcome of each contract in the given order
 * @throws FullmatchError of a failure that no contract causes, such as `database_unreachable`
 */
export async function saveBatch<Contract extends { readonly address: Hex }>(
  contracts: readonly Contract[],
  save: (contracts: readonly Contract[]) => Promise<readonly SavedMatch[]>,
): Promise<BatchOutcome[]> {
  try {
    return (await save(contracts)).map((saved) => ({ saved }));
  } catch (error) {
    const [contract] = contracts;
    if (contract === undefined || !mayBlameContract(error)) throw error;
    if (contracts.length === 1) {
      const fault = printableText(messageOf(error));
      return [{ refusal: new Refusal('not_storable', contract.address, fault) }];
    }
    const middle = Math.ceil(contracts.length / 2);
    return [
      ...(await saveBatch(contracts.slice(0, middle), save)),
      ...(await saveBatch(contracts.slice(middle), save)),
    ];
  }
}
