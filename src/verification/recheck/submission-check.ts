import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { FullmatchError } from '../../errors.ts';
import { Admission } from '../../lib/admission.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Logger } from '../../log.ts';
import { type Database } from '../../store/database.ts';
import { type PackedRequest } from '../verification-request.ts';
import { type VerificationParts } from '../verify-contract.ts';
import { recheckMatch, logRecheckOutcome, readMatchedCode } from './code-check.ts';

/** Time limit for reading the chain, and limit on concurrent checks. */
const CHECK_DEADLINE_MS = 4000;
const LOOKS = { total: 4, waiting: 64, waitingPerClient: 16, waitMs: 10_000 };
const RETRY_AFTER_S = 5;

/**
 * Checks the chain before a submission is rejected as already verified: if the verified code was replaced,
 * sources of the new code must be accepted. If the chain cannot be read, the match remains. Submissions for
 * one contract that name the same transaction share one check, and concurrency is limited, so that rejected
 * submissions cost few requests to endpoints. The others are queued, with fair admission of clients.
 * @throws FullmatchError queue_full, with `details.retryAfterSeconds`, if there was no check
 */
export function checkBeforeSubmitting(
  database: Database,
  parts: VerificationParts,
  signal: AbortSignal,
  log: Logger,
): (request: PackedRequest, client: string) => Promise<void> {
  const underWay = new Map<string, Promise<void>>();
  const looks = new Admission(LOOKS, tooMany);
  const check = async (chain: RegisteredChain, address: Hex, named?: Hex): Promise<void> => {
    const { chainId } = chain.record;
    const options = { signal, deadlineMs: CHECK_DEADLINE_MS, ...(named && { named }) };
    const { outcome } = await recheckMatch(database, parts, chain, address, options);
    logRecheckOutcome(log, chainId, address, outcome);
  };
  return async ({ chainId, address, creationTransactionHash: named }, client) => {
    const key = `${chainId} ${address} ${named ?? ''}`;
    const chain = parts.findSupportedChain(chainId);
    const matched = await readMatchedCode(database, chainId, address);
    const wouldBeRefused = matched?.runtime_match === 'full' && matched.creation_match === 'full';
    if (chain === undefined || !wouldBeRefused) return;
    if (underWay.has(key)) return underWay.get(key);
    const leave = await looks.enter(client);
    try {
      const looked = underWay.get(key) ?? check(chain, address, named);
      underWay.set(key, looked);
      await looked;
    } finally {
      underWay.delete(key);
      leave();
    }
  };
}

function tooMany(): FullmatchError {
  return new FullmatchError(
    'queue_full',
    `Too many submissions for verified contracts are waiting for a check on chain; try again in ${RETRY_AFTER_S} seconds.`,
    { details: { retryAfterSeconds: RETRY_AFTER_S } },
  );
}
