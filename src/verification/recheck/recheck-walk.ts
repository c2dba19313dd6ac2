import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { type Logger } from '../../log.ts';
import { sql, type Database } from '../../store/database.ts';
import { checkCode, logReplaced } from './code-check.ts';
import { type ReadingParts } from '../read-on-chain.ts';
import { type VerificationParts } from '../verify-contract.ts';

const ADD_CHAINS = sql(
  'add chains to recheck',
  `INSERT INTO code_rechecks (chain_id) SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING`,
);

// One statement takes the next contract of a chain that is due and moves the chain's place and time, so that no two
// processes take the same. Past the last address the round begins again.
const TAKE_NEXT = sql(
  'take next contract to recheck',
  `UPDATE code_rechecks SET next_at = now() + $2 * interval '1 millisecond',
     after_address = coalesce(due.address, '')
   FROM (
     SELECT chain_id, (
       SELECT address FROM current_matches
       WHERE current_matches.chain_id = code_rechecks.chain_id AND address > after_address
       ORDER BY address LIMIT 1) AS address
     FROM code_rechecks WHERE chain_id = ANY($1::bigint[]) AND next_at <= now()
     ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED
   ) AS due
   WHERE code_rechecks.chain_id = due.chain_id
   RETURNING code_rechecks.chain_id, due.address`,
);

const HOUR_MS = 3_600_000;
/** How often the walk looks for what is due, at the least. */
const MAX_PAUSE_MS = 15_000;

/**
 * Reads the code of the current matches again, slowly and in the order of addresses, and withdraws those whose code was
 * replaced. All processes of a database share the budget of each chain. What cannot be read now comes again in the next
 * round.
 * @param chainIds the chains that the operator configured; those that are not supported are passed over
 */
export function startRecheckWalk(
  database: Database,
  parts: ReadingParts & Pick<VerificationParts, 'findSupportedChain'>,
  chainIds: () => readonly number[],
  { perHour }: { readonly perHour: number },
  log: Logger,
): { close(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  if (perHour === 0) return { close: () => Promise.resolve() };
  const intervalMs = HOUR_MS / perHour;
  const step = async (): Promise<boolean> => {
    const supported = chainIds().filter((chainId) => parts.findSupportedChain(chainId));
    if (supported.length === 0) return false;
    await database.query(ADD_CHAINS, [supported]);
    if (signal.aborted) return false;
    const [taken] = await database.query<{ chain_id: string; address: Buffer | null }>(TAKE_NEXT, [
      supported,
      intervalMs,
    ]);
    if (taken === undefined) return false;
    // A contract that was taken while the walk ended comes again in the next round.
    if (taken.address !== null && !signal.aborted) {
      await recheck(Number(taken.chain_id), bytesToHex(taken.address));
    }
    return true;
  };
  const recheck = async (chainId: number, address: Hex): Promise<void> => {
    const chain = parts.findSupportedChain(chainId);
    if (chain === undefined) return;
    const options = { signal, comparesFacts: true };
    const check = await checkCode(database, parts, chain, address, options);
    logReplaced(log, chainId, address, check.outcome);
    const facts = { event: 'code_rechecked', chain_id: chainId, address, ...check };
    log.debug(facts, 'the code of a match was read again');
  };
  const walk = async (): Promise<void> => {
    while (!signal.aborted) {
      let took = false;
      try {
        took = await step();
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ event: 'recheck_failed', error: messageOf(error) }, 'no code was read again');
      }
      const pauseMs = took ? 0 : Math.min(MAX_PAUSE_MS, intervalMs);
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const walked = walk();
  return {
    close: async () => {
      stopping.abort();
      await walked;
    },
  };
}
