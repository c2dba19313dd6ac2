import { type ContractJudgement, judgeContract } from '../../bytecode/judge-contract.ts';
import { FullmatchError } from '../../errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { hexToBytes } from '../../lib/hex.ts';
import { type Compilation, type Match, markRecompiled } from '../../repository/repository.ts';
import { type ContractOutput } from '../../solidity/standard-json.ts';
import { sql } from '../../store/database.ts';
import { compileTarget } from '../compilation/compile-contract.ts';
import { isUnknownTarget } from '../compilation/compilation-task.ts';
import { readConfiguredLibraries } from '../compilation/configured-libraries.ts';
import { readStoredTask, requireStoredCompilation } from '../known-codes/stored-task.ts';
import { type KnownCodeParts } from '../known-codes/verify-known-code.ts';
import { failureKindOf, VerificationFailure } from '../verification-failure.ts';
import { type Deployment } from '../verification-request.ts';

const READ_CLAIM = sql(
  'read imported match to recompile',
  `SELECT verified_contract_id AS match_id, current_matches.runtime_match, current_matches.creation_match, compilation_id, fully_qualified_name,
     runtime.code AS runtime, creation.code AS creation
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   LEFT JOIN contracts AS claimed ON claimed.id = claimed_contract_id
   LEFT JOIN code AS runtime ON runtime.code_hash = claimed.runtime_code_hash
   LEFT JOIN code AS creation ON creation.code_hash = claimed.creation_code_hash
   WHERE current_matches.chain_id = $1 AND current_matches.address = $2 AND origin = 'imported' AND trust < 'recompiled'`,
);

interface ClaimRow {
  readonly match_id: string;
  readonly runtime_match: Match | null;
  readonly creation_match: Match | null;
  readonly compilation_id: string;
  readonly fully_qualified_name: string;
  readonly runtime: Buffer | null;
  readonly creation: Buffer | null;
}

/**
 * The outcome of compiling the sources of an imported match. `recompiled`: they produce the imported
 * bytecode, and the trust level of the match is raised. `differs`: they do not, match less than claimed, or
 * have another ABI or metadata; the match is unchanged. `not_checked`: this could not be determined, for example because no bytecode was
 * imported, or another import claimed more meanwhile. `not_claimed`: there is no such match, or it was already checked.
 */
export type RecompileOutcome =
  | { readonly outcome: 'recompiled' | 'differs'; readonly match: Match | null }
  | { readonly outcome: 'not_checked'; readonly reason: string }
  | { readonly outcome: 'not_claimed' };

/**
 * Compiles the stored sources of an imported match and compares them with the imported bytecode, without
 * reading the chain.
 * @throws FullmatchError of the database; the reason of `signal`
 */
export async function recompileClaim(
  parts: KnownCodeParts,
  { chainId, address }: Deployment,
  signal: AbortSignal,
): Promise<RecompileOutcome> {
  const { database } = parts;
  const [claim] = await database.query<ClaimRow>(READ_CLAIM, [chainId, hexToBytes(address)]);
  if (claim === undefined) return { outcome: 'not_claimed' };
  const isCodeMissing = claim.runtime === null || (claim.creation_match && !claim.creation);
  if (isCodeMissing) return { outcome: 'not_checked', reason: 'no_delivered_code' };
  try {
    const compiled = await compileAndJudge(parts, { chainId, address }, claim, signal);
    const match = compiled?.judged.match ?? null;
    if (compiled === null || !isAsClaimed(compiled, claim)) return { outcome: 'differs', match };
    const isRaised = await markRecompiled(database, {
      ...{ chainId, address, matchId: claim.match_id },
      ...{ runtimeMatch: claim.runtime_match, creationMatch: claim.creation_match },
    });
    return isRaised
      ? { outcome: 'recompiled', match }
      : { outcome: 'not_checked', reason: 'claim_changed' };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof VerificationFailure || error instanceof FullmatchError)) throw error;
    const { code } = error;
    if (code.startsWith('database_')) throw error;
    const isDifferent = failureKindOf(code) === 'no_match';
    return isDifferent
      ? { outcome: 'differs', match: null }
      : { outcome: 'not_checked', reason: code };
  }
}

/** What the stored sources compile to, beside what is stored of them. */
interface CompiledClaim {
  readonly stored: Compilation;
  readonly contract: ContractOutput;
  readonly judged: ContractJudgement;
}

/**
 * Whether both bytecodes match at least as well as claimed, and what is published of the compilation is what
 * the compiler writes: the ABI, and in a full match of Solidity the metadata. The metadata of a partial match
 * may be that of other sources.
 */
function isAsClaimed({ stored, contract, judged }: CompiledClaim, claim: ClaimRow): boolean {
  const { runtime_match: runtime, creation_match: creation } = claim;
  const isFull = runtime === 'full' || creation === 'full';
  const { abi } = stored.artifacts;
  return (
    judged.runtimeMatch !== null &&
    covers(judged.runtimeMatch, runtime) &&
    covers(judged.creationMatch, creation) &&
    (!isFull || contract.metadata === undefined || stored.metadata === contract.metadata) &&
    (!Array.isArray(abi) || canonicalJson(abi) === canonicalJson(contract.abi ?? []))
  );
}

/** Whether a judged match is at least the claimed one. */
const covers = (judged: Match | null, claimed: Match | null): boolean =>
  claimed === null || judged === 'full' || judged === claimed;

/** Compares both imported bytecodes with the compiled stored sources; null if they cannot be compiled. */
async function compileAndJudge(
  parts: KnownCodeParts,
  deployment: Deployment,
  { compilation_id: id, fully_qualified_name: name, runtime, creation }: ClaimRow,
  signal: AbortSignal,
): Promise<CompiledClaim | null> {
  const { database, sourceBytes } = parts;
  const stored = await requireStoredCompilation(database, id, sourceBytes);
  const { task } = readStoredTask(stored, name, sourceBytes, deployment);
  const { target } = task;
  if (isUnknownTarget(target)) return null;
  const { contract, codes, version } = await compileTarget(
    parts,
    { ...task, target },
    task.input,
    signal,
  );
  const judged = judgeContract({
    address: deployment.address,
    abi: contract.abi,
    compiler: { language: task.language, version },
    ...(runtime !== null && { runtime: { recompiled: codes.runtime, onChain: runtime } }),
    ...(creation !== null && { creation: { recompiled: codes.creation, onChain: creation } }),
    libraries: readConfiguredLibraries(task.input.settings),
  });
  return { stored, contract, judged };
}
