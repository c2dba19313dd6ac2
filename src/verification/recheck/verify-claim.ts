import {
  CLAIM_DISPROVED,
  type Contradiction,
  type Match,
  renewMatcherVersion,
  settleContradictions,
} from '../../repository/repository.ts';
import { FullmatchError } from '../../errors.ts';
import { hexToBytes } from '../../lib/hex.ts';
import { type Logger } from '../../log.ts';
import { sql } from '../../store/database.ts';
import { readStoredTask, requireStoredCompilation } from '../known-codes/stored-task.ts';
import { type KnownCodeParts } from '../known-codes/verify-known-code.ts';
import { failureKindOf, VerificationFailure } from '../verification-failure.ts';
import { type Deployment } from '../verification-request.ts';
import { isFullMatch, type VerificationResult } from '../verify-contract.ts';
import { verifyAndSave, verifyCurrentCode } from './verify-and-save.ts';

const READ_CLAIM = sql(
  'read stored match to verify',
  `SELECT verified_contract_id AS match_id, match, compilation_id, fully_qualified_name, origin = 'imported' AS is_claim
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE current_matches.chain_id = $1 AND current_matches.address = $2`,
);

interface ClaimRow {
  readonly match_id: string;
  readonly match: Match;
  readonly compilation_id: string;
  readonly fully_qualified_name: string;
  readonly is_claim: boolean;
}

/**
 * The outcome of verifying a stored match with its own sources. `verified`: they match, and the match is now
 * this service's own. `claim_disproved`: those of an imported match do not, or match less than claimed; the
 * claim was withdrawn. `differs`: those of a match of this service no longer match as well; the match is
 * kept. `not_checked`: this could not be determined; the match is kept. `not_claimed`: there is no match to
 * verify.
 */
export type ClaimOutcome =
  | {
      readonly outcome: 'verified' | typeof CLAIM_DISPROVED | 'differs';
      readonly match: Match | null;
    }
  | { readonly outcome: 'not_checked'; readonly reason: string }
  | { readonly outcome: 'not_claimed' };

/**
 * Verifies a stored match with its own sources, as if they had been submitted.
 * @param isOwnToo whether to verify matches of this service again, for example after a change of the matcher
 * @throws FullmatchError of the database; the reason of `signal`
 */
export async function verifyClaim(
  parts: KnownCodeParts,
  { chainId, address }: Deployment,
  isOwnToo: boolean,
  signal: AbortSignal,
  log: Logger,
): Promise<ClaimOutcome> {
  const { database, sourceBytes } = parts;
  const [claim] = await database.query<ClaimRow>(READ_CLAIM, [chainId, hexToBytes(address)]);
  if (claim === undefined || !(claim.is_claim || isOwnToo)) return { outcome: 'not_claimed' };
  const { match_id: matchId, compilation_id: id, fully_qualified_name: name } = claim;
  const less = claim.is_claim ? CLAIM_DISPROVED : 'differs';
  const disproved: Contradiction[] = claim.is_claim
    ? [{ of: 'match', chainId, address, matchId, reason: CLAIM_DISPROVED }]
    : [];
  const verify = async (contradicted: Contradiction[]): Promise<VerificationResult> => {
    const compilation = await requireStoredCompilation(database, id, sourceBytes);
    const task = readStoredTask(compilation, name, sourceBytes, { chainId, address });
    const result = await verifyCurrentCode(database, parts, task, signal, contradicted);
    if (isLess(result, claim)) contradicted.push(...disproved);
    return result;
  };
  try {
    const { result } = await verifyAndSave(database, verify, log);
    const outcome = isLess(result, claim) ? less : 'verified';
    if (outcome === 'verified' && !claim.is_claim) await renewMatcherVersion(database, matchId);
    return { outcome, match: isFullMatch(result.contract) ? 'full' : 'partial' };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof VerificationFailure || error instanceof FullmatchError)) throw error;
    const { code } = error;
    if (code.startsWith('database_')) throw error;
    if (!isDisproof(error)) return { outcome: 'not_checked', reason: code };
    await settleContradictions(database, disproved);
    return { outcome: less, match: null };
  }
}

/**
 * Whether a failure shows that the sources do not match. A value outside its type may still be proven by the
 * creation bytecode, so without that bytecode it shows nothing.
 */
function isDisproof(error: VerificationFailure | FullmatchError): boolean {
  const isUnproven =
    error instanceof VerificationFailure &&
    error.code === 'immutable_out_of_range' &&
    error.codes.onchainCreationCode === undefined;
  return failureKindOf(error.code) === 'no_match' && !isUnproven;
}

const isLess = ({ contract }: VerificationResult, { match }: ClaimRow): boolean =>
  match === 'full' && !isFullMatch(contract);
