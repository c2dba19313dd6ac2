import { messageOf } from '../../errors.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { repeatUntilClosed } from '../../lib/repeat.ts';
import { type Logger } from '../../log.ts';
import { sql, type Database } from '../../store/database.ts';
import { recheckMatch, logRecheckOutcome } from './code-check.ts';
import { type ReadingParts } from '../read-on-chain.ts';
import { type VerificationParts } from '../verify-contract.ts';

const ADD_CHAINS = sql(
  'add chains to recheck',
  `INSERT INTO code_rechecks (chain_id) SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING`,
);

const SHORTEST_MS = 100;
const LONGEST_MS = 60_000;
// One statement takes the next due contract of a chain and advances the chain's cursor and time, so that no
// two processes take the same contract. After the last address the round starts over.
const TAKE_NEXT = sql(
  'take next contract to recheck',
  `UPDATE code_rechecks SET after_address = coalesce(due.address, ''), next_at = now() + interval '1 millisecond'
       * greatest(${SHORTEST_MS}, least(${LONGEST_MS}, $2::float8 / greatest(1, due.contracts)))
   FROM (
     SELECT chain_id, (
       SELECT full_match + partial_match FROM chain_counts
       WHERE chain_counts.chain_id = code_rechecks.chain_id) AS contracts, (
       SELECT address FROM current_matches
       WHERE current_matches.chain_id = code_rechecks.chain_id AND address > after_address
       ORDER BY address LIMIT 1) AS address
     FROM code_rechecks WHERE chain_id = ANY($1::bigint[]) AND next_at <= now()
     ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED
   ) AS due
   WHERE code_rechecks.chain_id = due.chain_id
   RETURNING code_rechecks.chain_id, due.address`,
);

const READ_PAUSE = sql(
  'read when the next recheck is due',
  `SELECT extract(epoch FROM min(next_at) - now())::float8 * 1000 AS ms FROM code_rechecks
   WHERE chain_id = ANY($1::bigint[])`,
);

/** Maximum pause between two polls: chains may be configured at any time. */
const LONGEST_PAUSE_MS = 15_000;

/**
 * Reads the bytecode of all current matches again, in address order, and withdraws those whose bytecode was
 * replaced. A round of a chain takes `roundSeconds` regardless of its size, within limits of one contract per
 * minute and ten per second. All processes of a database share the rounds. A contract that cannot be read is
 * retried in the next round.
 * @param chainIds the configured chains; unsupported ones are skipped
 */
export function startRecheckWalk(
  database: Database,
  parts: ReadingParts & Pick<VerificationParts, 'findSupportedChain'>,
  chainIds: () => readonly number[],
  { roundSeconds }: { readonly roundSeconds: number },
  log: Logger,
): { close(): Promise<void> } {
  if (roundSeconds === 0) return { close: () => Promise.resolve() };
  /** @returns the time until the next contract is due, in milliseconds */
  const step = async (signal: AbortSignal): Promise<number> => {
    const supported = chainIds().filter((chainId) => parts.findSupportedChain(chainId));
    if (supported.length === 0) return LONGEST_PAUSE_MS;
    await database.query(ADD_CHAINS, [supported]);
    if (signal.aborted) return 0;
    const [taken] = await database.query<{ chain_id: string; address: Buffer | null }>(TAKE_NEXT, [
      supported,
      1000 * roundSeconds,
    ]);
    if (taken === undefined) {
      const [next] = await database.query<{ ms: number }>(READ_PAUSE, [supported]);
      return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_MS, next?.ms ?? LONGEST_PAUSE_MS));
    }
    // A contract taken during shutdown is checked in the next round.
    if (taken.address !== null && !signal.aborted) {
      const [chainId, address] = [Number(taken.chain_id), bytesToHex(taken.address)];
      try {
        await recheck(chainId, address, signal);
      } catch (error) {
        if (signal.aborted) return 0;
        const facts = { event: 'recheck_failed', chain_id: chainId, address };
        log.warn({ ...facts, error: messageOf(error) }, 'a code was not read again');
        return LONGEST_PAUSE_MS;
      }
    }
    return 0;
  };
  const recheck = async (chainId: number, address: Hex, signal: AbortSignal): Promise<void> => {
    const chain = parts.findSupportedChain(chainId);
    if (chain === undefined) return;
    const options = { signal, comparesFacts: true };
    const check = await recheckMatch(database, parts, chain, address, options);
    logRecheckOutcome(log, chainId, address, check.outcome);
    const facts = { event: 'code_rechecked', chain_id: chainId, address, ...check };
    log.debug(facts, 'the code of a match was rechecked');
  };
  return repeatUntilClosed(step, {
    retryMs: LONGEST_PAUSE_MS,
    onFailure: (error) =>
      log.warn({ event: 'recheck_failed', error: messageOf(error) }, 'no code was read again'),
  });
}
