import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type DeployedCode } from '../../chains/rpc/deployed-code.ts';
import { FullmatchError } from '../../errors.ts';
import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { type Logger } from '../../log.ts';
import {
  CLAIM_DISPROVED,
  CODE_REPLACED,
  CREATION_DISPROVED,
  CREATION_REPLACED,
  CREATION_ROLLED_BACK,
  DEPLOYMENT_CORRECTED,
  type Contradiction,
  type Match,
  deleteAlternatives,
  settleContradictions,
  sha256,
} from '../../repository/repository.ts';
import { sql, type Database } from '../../store/database.ts';
import { checkCreation, type CreationLoss } from './creation-check.ts';
import { type ReadingParts } from '../read-on-chain.ts';
import { findDisprovedClaim } from './disproved-claim.ts';
import { findStoredRefusals, type StoredRefusal } from './stored-refusal.ts';

/** Outcome: alternative sources of a match are no longer accepted. */
const ALTERNATIVE_REFUSED = 'alternative_refused';

const READ_MATCHED_CODE = sql(
  'read matched code',
  `SELECT runtime_code_hash, current_matches.runtime_match, current_matches.creation_match,
     origin = 'imported' AND match = 'full' AS is_full_claim
   FROM current_matches WHERE current_matches.chain_id = $1 AND current_matches.address = $2`,
);

/** The current match of an address, as far as it is compared with the chain. */
export interface MatchedCode {
  /** sha256 of the bytecode that the match refers to; null for an import that does not contain it. */
  readonly runtime_code_hash: Buffer | null;
  readonly runtime_match: Match | null;
  readonly creation_match: Match | null;
  /** Whether an import claims a full match, which the bytecode on chain may disprove. */
  readonly is_full_claim: boolean;
}

/**
 * Outcome of comparing a match with the chain:
 * - `same`: the bytecode is the one that was verified.
 * - `code_replaced`: the bytecode has changed; the match was withdrawn.
 * - `creation_replaced`: the bytecode is the same, but a later transaction created the contract again; the
 *   creation of the match was withdrawn.
 * - `creation_disproved`: the bytecode is the same, but the chain's states show that the transaction did not
 *   leave it there; the creation of the match was withdrawn.
 * - `deployment_corrected`: the chain reports another block, index or deployer for the creation; the record
 *   was corrected.
 * - `call_protection_missing`, `verbatim_not_allowed`: an earlier version stored a match that the current
 *   rules reject; it was withdrawn.
 * - `alternative_refused`: the match is kept, but alternative sources that the current rules reject were
 *   deleted.
 * - `claim_disproved`: the bytecode disproves a claim of a full match, which was withdrawn.
 * - `gone`: there is no code today. The match is kept, since it was true of the contract, unless the chain
 *   dropped the creation in a reorg; then it is withdrawn as `creation_rolled_back`.
 * - `not_verified`: there is no match.
 * - `unknown_code`: the match does not state its bytecode.
 * - `not_checked`: the chain could not be read; nothing is known.
 */
export type CodeCheck =
  | {
      readonly outcome:
        | 'same'
        | 'code_replaced'
        | typeof CREATION_ROLLED_BACK
        | CreationLoss
        | typeof DEPLOYMENT_CORRECTED
        | StoredRefusal
        | typeof ALTERNATIVE_REFUSED
        | typeof CLAIM_DISPROVED
        | 'gone'
        | 'not_verified'
        | 'unknown_code';
    }
  | { readonly outcome: 'not_checked'; readonly reason: string };

export async function readMatchedCode(
  database: Database,
  chainId: number,
  address: Hex,
): Promise<MatchedCode | undefined> {
  const [row] = await database.query<MatchedCode>(READ_MATCHED_CODE, [
    chainId,
    hexToBytes(address),
  ]);
  return row;
}

/**
 * Reads the bytecode of a verified contract by quorum, like a verification, and withdraws the match if the
 * bytecode has changed. If the same bytecode may have been recreated, proves its creation again.
 * @throws the reason of `signal`; FullmatchError of the database.
 */
export async function recheckMatch(
  database: Database,
  parts: ReadingParts,
  chain: RegisteredChain,
  address: Hex,
  { named, comparesFacts, isRolledBack, ...options }: CheckCodeOptions = {},
): Promise<CodeCheck> {
  const { chainId } = chain.record;
  const { readDeployedCode, quorumOf } = parts;
  const matched = await readMatchedCode(database, chainId, address);
  if (matched === undefined) return { outcome: 'not_verified' };
  const isCodeKnown = matched.runtime_code_hash !== null;
  if (!isCodeKnown && !matched.is_full_claim) return { outcome: 'unknown_code' };
  const quorum = quorumOf(chainId);
  let deployed: DeployedCode;
  try {
    deployed = await readDeployedCode(chain, address, { ...options, ...(quorum && { quorum }) });
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    if (error.code === 'contract_not_deployed') {
      const isWithdrawn =
        isRolledBack && (await withdrawRolledBack(database, chainId, address, matched));
      return { outcome: isWithdrawn ? CREATION_ROLLED_BACK : 'gone' };
    }
    return { outcome: 'not_checked', reason: error.code };
  }
  const contradiction = await findContradictedMatch(database, chain, address, matched, deployed);
  if (contradiction !== undefined && (await withdraw(database, contradiction))) {
    return { outcome: contradiction.reason };
  }
  const refusal = isCodeKnown
    ? await withdrawIfRefused(database, chainId, address, deployed.code)
    : undefined;
  if (refusal !== undefined && refusal !== ALTERNATIVE_REFUSED) return { outcome: refusal };
  const stands = refusal ?? (isCodeKnown ? 'same' : 'unknown_code');
  const ending = options.deadlineMs === undefined ? [] : [AbortSignal.timeout(options.deadlineMs)];
  const signal = AbortSignal.any([...(options.signal ? [options.signal] : []), ...ending]);
  const checked = {
    ...{ database, parts, chain, address, running: deployed },
    options: { signal, ...(quorum && { quorum }) },
  };
  try {
    return { outcome: (await checkCreation(checked, { named, comparesFacts })) ?? stands };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!signal.aborted) throw error;
    return { outcome: stands };
  }
}

/** Options of a check. */
interface CheckCodeOptions {
  readonly signal?: AbortSignal;
  /** Time limit for the bytecode, and the same again for the creation, in milliseconds. */
  readonly deadlineMs?: number;
  /** A transaction that a client claims created the contract. */
  readonly named?: Hex;
  /** Whether to compare the stored block, index and deployer of the creation with the chain. */
  readonly comparesFacts?: boolean;
  /**
   * Whether the block of the contract's creation was reorged out. If there is no code either, the contract
   * never existed.
   */
  readonly isRolledBack?: boolean;
}

/**
 * Returns the match of a contract that the bytecode on chain contradicts: one of other bytecode, or an
 * imported claim of a full match. Writes nothing.
 * @param matched the match read before the bytecode: a match stored since then refers to a newer reading
 */
export async function findContradictedMatch(
  database: Database,
  { record: { chainId } }: RegisteredChain,
  address: Hex,
  matched: MatchedCode | undefined,
  { code, blockNumber: readAtBlock }: DeployedCode,
): Promise<
  (Contradiction & { readonly reason: typeof CODE_REPLACED | typeof CLAIM_DISPROVED }) | undefined
> {
  const runtimeCodeHash = matched?.runtime_code_hash ?? undefined;
  if (runtimeCodeHash !== undefined && !runtimeCodeHash.equals(sha256(code))) {
    return { of: 'match', chainId, address, reason: CODE_REPLACED, runtimeCodeHash };
  }
  const matchId = await findDisprovedClaim(database, chainId, address, code);
  if (matchId === undefined) return undefined;
  return { of: 'match', chainId, address, reason: CLAIM_DISPROVED, matchId, readAtBlock };
}

/** Withdraws a match that was read before the quorum reported no code at the address. */
async function withdrawRolledBack(
  database: Database,
  chainId: number,
  address: Hex,
  { runtime_code_hash: runtimeCodeHash }: MatchedCode,
): Promise<boolean> {
  if (runtimeCodeHash === null) return false;
  const reason = CREATION_ROLLED_BACK;
  return withdraw(database, { of: 'match', chainId, address, reason, runtimeCodeHash });
}

/**
 * Withdraws a match of an earlier version that the current rules reject, and returns the reason. If the match
 * is accepted, deletes its alternative sources that the rules reject.
 */
async function withdrawIfRefused(
  database: Database,
  chainId: number,
  address: Hex,
  code: Uint8Array,
): Promise<StoredRefusal | typeof ALTERNATIVE_REFUSED | undefined> {
  const { shown, alternatives } = await findStoredRefusals(database, chainId, address, code);
  if (shown !== undefined) {
    const { matchId, refusal: reason } = shown;
    const contradiction = { of: 'match', chainId, address, reason, matchId } as const;
    if (await withdraw(database, contradiction)) return reason;
  }
  const isForgotten = await deleteAlternatives(database, chainId, address, alternatives);
  return isForgotten ? ALTERNATIVE_REFUSED : undefined;
}

/** @returns false if another match has replaced the given one; it is kept */
async function withdraw(database: Database, seen: Contradiction): Promise<boolean> {
  return (await settleContradictions(database, [seen])).length > 0;
}

const CHANGES = {
  [ALTERNATIVE_REFUSED]: 'alternative sources of a match were deleted: they are no longer accepted',
  [CLAIM_DISPROVED]:
    'an imported match was withdrawn: the code on chain does not contain the hash of its metadata',
  [CODE_REPLACED]: 'a match was withdrawn: the code at its address has changed',
  [CREATION_REPLACED]: 'a match was withdrawn: a later transaction created the contract again',
  [CREATION_ROLLED_BACK]: 'a match was withdrawn: the block that created the contract was replaced',
  call_protection_missing:
    'a match was withdrawn: the library contains zeros instead of its own address',
  verbatim_not_allowed: 'a match was withdrawn: the program contains raw bytes',
  [CREATION_DISPROVED]:
    'a match was withdrawn: its transaction did not create the contract at the address',
  [DEPLOYMENT_CORRECTED]: 'stored creation data was corrected',
} as const;

function isChange(outcome: string): outcome is keyof typeof CHANGES {
  return outcome in CHANGES;
}

/** Logs the withdrawal of a match or the correction of its record, if the outcome is one of these. */
export function logRecheckOutcome(
  log: Logger,
  chainId: number,
  address: Hex,
  outcome: string,
): void {
  if (!isChange(outcome)) return;
  log.warn({ event: outcome, chain_id: chainId, address }, CHANGES[outcome]);
}
