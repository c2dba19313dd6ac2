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
  forgetAlternatives,
  settleContradictions,
  sha256,
} from '../../repository/repository.ts';
import { sql, type Database } from '../../store/database.ts';
import { checkCreation, type CreationLoss } from './creation-check.ts';
import { type ReadingParts } from '../read-on-chain.ts';
import { findDisprovedClaim } from './disproved-claim.ts';
import { findStoredRefusals, type StoredRefusal } from './stored-refusal.ts';

/** A text kept beside a match is refused today. */
const ALTERNATIVE_REFUSED = 'alternative_refused';

const READ_MATCHED_CODE = sql(
  'read matched code',
  `SELECT runtime_code_hash, current_matches.runtime_match, current_matches.creation_match,
     origin = 'imported' AND match = 'full' AS is_full_claim
   FROM current_matches WHERE current_matches.chain_id = $1 AND current_matches.address = $2`,
);

/** The current match of an address, as far as it is held against the chain. */
export interface MatchedCode {
  /** sha256 of the code that the match is about; null where an import does not know it. */
  readonly runtime_code_hash: Buffer | null;
  readonly runtime_match: Match | null;
  readonly creation_match: Match | null;
  /** Whether an import claims that the match is full: the code on chain may deny it. */
  readonly is_full_claim: boolean;
}

/**
 * What the comparison of a match with the chain came to: `same` the code is the one that was verified; `code_replaced`
 * it is another one, and the match was withdrawn; `creation_replaced` it is the same, and a later transaction made the
 * contract again, so that what the match said about its creation was withdrawn; `creation_disproved` the same, where the
 * chain's states say that the transaction did not leave what stands there; `deployment_corrected` the same, where the
 * chain gives its creation another block, index or deployer than was stored, which is corrected; `call_protection_missing` and
 * `verbatim_not_allowed` an earlier version stored what is refused today, and it was withdrawn; `alternative_refused` the
 * match stands, and a text kept beside it that is refused today was forgotten; `claim_disproved` the code shows that a claim of a
 * full match was false, and it was withdrawn; `gone` no code stands there today, which is no
 * reason to withdraw what was true of the contract, unless the chain has taken its creation back: then it was withdrawn as
 * `creation_rolled_back`; `not_verified` there is no match; `unknown_code` the match does not say of which code it is;
 * `not_checked` the chain could not be read, which says nothing.
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
 * Reads the code of a verified contract as a verification does, by quorum, and withdraws the match where the code is
 * another one. Where the same code can have been recreated, its creation is proved again.
 * @throws the reason of `signal`; FullmatchError of the database.
 */
export async function checkCode(
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

/** How a check goes about it. */
interface CheckCodeOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for the code, and as many for the creation. */
  readonly deadlineMs?: number;
  /** The transaction that somebody says created the contract. */
  readonly named?: Hex;
  /** Whether the stored block, index and deployer of the creation are compared with the chain. */
  readonly comparesFacts?: boolean;
  /** Whether the chain has replaced the block of the contract's creation: without code there, it never was. */
  readonly isRolledBack?: boolean;
}

/**
 * What the code on chain contradicts of a contract: a match of other code, or the claim of an import that it matches fully.
 * Nothing is written.
 * @param matched what was read before the code: a match that was stored since is about the newer reading
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

/** Withdraws the match that was read before the quorum said that no code stands there. */
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
 * Withdraws a match of an earlier version that today's rules refuse, and says why they do. Where the match stands, other
 * texts that they refuse are forgotten.
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
  const isForgotten = await forgetAlternatives(database, chainId, address, alternatives);
  return isForgotten ? ALTERNATIVE_REFUSED : undefined;
}

/** @returns false where another match has taken the place of the one that was seen, which stays. */
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

/** Logs the withdrawal of a match or the correction of its record, if the outcome of a check says one. */
export function logRecheckOutcome(
  log: Logger,
  chainId: number,
  address: Hex,
  outcome: string,
): void {
  if (!isChange(outcome)) return;
  log.warn({ event: outcome, chain_id: chainId, address }, CHANGES[outcome]);
}
