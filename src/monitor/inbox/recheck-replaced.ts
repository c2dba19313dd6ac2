import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { type Logger } from '../../log.ts';
import { sql, type Database } from '../../store/database.ts';
import { recheckMatch, logRecheckOutcome } from '../../verification/recheck/code-check.ts';
import { type VerificationParts } from '../../verification/verify-contract.ts';

/** Further ones are left to the regular recheck of all matches. */
const MAX_WAITING = 100_000;
const TRIES = 5;
const PAUSE_MS = 5000;

const READ_SEEN = sql(
  'read whether contract was created again',
  'SELECT FROM seen_creations WHERE chain_id = $1 AND address = $2 LIMIT 1',
);

interface Replaced {
  readonly chainId: number;
  readonly address: Hex;
}

/** Rechecks the matches of addresses whose creations the chain has replaced. */
export interface Rechecks {
  add(chainId: number, addresses: readonly Hex[]): void;
  close(): Promise<void>;
}

/**
 * Reads the bytecode at addresses with a replaced creation, and withdraws matches of other bytecode. If there
 * is no bytecode, checks again after a pause, since most transactions are soon included in another block.
 * Works sequentially: most addresses have no match, which costs one database query.
 */
export function startRechecks(
  database: Database,
  reading: VerificationParts,
  log: Logger,
): Rechecks {
  const closing = new AbortController();
  const { signal } = closing;
  const waiting = new Map<string, Replaced>();
  let running: Promise<void> | undefined;
  const pause = (): Promise<void> => wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  const check = async ({ chainId, address }: Replaced, isLast: boolean) => {
    const chain = reading.findSupportedChain(chainId);
    if (chain === undefined) return 'not_verified';
    const isRolledBack = isLast && (await isNotSeen(chainId, address));
    const { outcome } = await recheckMatch(database, reading, chain, address, {
      ...{ signal, isRolledBack },
    });
    logRecheckOutcome(log, chainId, address, outcome);
    return outcome;
  };
  const isNotSeen = async (chainId: number, address: Hex): Promise<boolean> =>
    (await database.query(READ_SEEN, [chainId, hexToBytes(address)])).length === 0;
  /** @returns whether there is no bytecode */
  const checkWithRetry = async (replaced: Replaced, isLast: boolean): Promise<boolean> => {
    const { chainId, address } = replaced;
    for (let tries = 1; tries <= TRIES && !signal.aborted; tries += 1) {
      try {
        const outcome = await check(replaced, isLast);
        if (outcome !== 'not_checked') return outcome === 'gone';
      } catch (error) {
        if (signal.aborted) return false;
        const facts = { event: 'recheck_failed', chain_id: chainId, address };
        log.warn({ ...facts, error: messageOf(error) }, 'a replaced creation was not checked');
      }
      await pause();
    }
    return false;
  };
  const run = async (): Promise<void> => {
    const gone: Replaced[] = [];
    for (const [key, replaced] of waiting) {
      if (signal.aborted) return;
      waiting.delete(key);
      if (await checkWithRetry(replaced, false)) gone.push(replaced);
    }
    if (gone.length > 0) await pause();
    for (const replaced of gone) {
      if (signal.aborted) return;
      await checkWithRetry(replaced, true);
    }
  };
  const begin = (): void => {
    running ??= run().finally(() => {
      running = undefined;
      if (waiting.size > 0 && !signal.aborted) begin();
    });
  };
  return {
    add: (chainId, addresses) => {
      for (const address of addresses) {
        if (waiting.size < MAX_WAITING) waiting.set(`${chainId} ${address}`, { chainId, address });
      }
      if (waiting.size > 0) begin();
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
