import { type Creation } from '../../chains/rpc/creation.ts';
import { bytesToHex, hexToBytes } from '../../lib/hex.ts';
import {
  type Deployment,
  type Transformed,
  type VerifiedContract,
  attachCreation,
  deploymentId,
  hashOf,
} from '../../repository/repository.ts';
import { sql, type Queryable } from '../../store/database.ts';

// The code that an import is about is known only where the import said so. What came with codes of its own stays together:
// its transformations fit these codes alone.
const READ_CLAIM = sql(
  'read claimed creation',
  `SELECT verified_contract_id AS match_id, deployment_id, current_matches.runtime_code_hash IS NOT NULL AS is_code_known,
     creation_values ->> 'constructorArguments' AS constructor_arguments,
     coalesce(creation_transformations @> '[{"reason": "constructorArguments"}]', false) AS are_arguments_placed
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   WHERE current_matches.chain_id = $1 AND current_matches.address = $2 AND origin = 'imported'
     AND claimed_contract_id IS NULL AND coalesce(current_matches.runtime_code_hash = $3, true)`,
);

/** What the shown record of an imported match says of its creation. */
interface Claim {
  readonly match_id: string;
  readonly deployment_id: string;
  readonly is_code_known: boolean;
  readonly constructor_arguments: string | null;
  readonly are_arguments_placed: boolean;
}

/** What is known of a creation that was proven, by whoever proved it. */
type ProvenContract = Pick<
  VerifiedContract,
  'chainId' | 'address' | 'deployment' | 'creationSearch' | 'readAfterEvent'
>;

async function readClaim(
  transaction: Queryable,
  { chainId, address, deployment }: ProvenContract,
): Promise<Claim | undefined> {
  const [claim] = await transaction.query<Claim>(READ_CLAIM, [
    chainId,
    hexToBytes(address),
    hashOf(deployment.runtimeCode),
  ]);
  return claim;
}

/** The facts of a creation, with the running code only where the match says that it is about that code. */
const factsFor = ({ is_code_known: isKnown }: Claim, deployment: Deployment): Deployment => {
  const { runtimeCode, ...facts } = deployment;
  return isKnown && runtimeCode !== undefined ? deployment : facts;
};

/**
 * The constructor arguments beside a proven creation: those of a text whose creation code matches. Else claimed ones stay
 * claimed where the creation code ends with them, and are gone where it does not.
 */
function settleArguments(
  { constructor_arguments: claimed }: Claim,
  creationCode: Uint8Array,
  judged: Transformed | undefined,
): Transformed | undefined {
  const { constructorArguments } = judged?.values ?? {};
  // A text without arguments may hold them as data of its own, such as one in Yul, and tells nothing about them.
  if (judged !== undefined && constructorArguments !== undefined) {
    return {
      transformations: judged.transformations.filter(
        ({ reason }) => reason === 'constructorArguments',
      ),
      values: { constructorArguments },
    };
  }
  const isAtEnd = claimed !== null && bytesToHex(creationCode).endsWith(claimed.slice(2));
  return isAtEnd ? { transformations: [], values: { constructorArguments: claimed } } : undefined;
}

/** Whether a record says all of it already. */
function isShown(
  claim: Claim,
  deployed: Parameters<typeof deploymentId>[0],
  creation: Transformed | undefined,
): boolean {
  if (claim.deployment_id !== deploymentId(deployed)) return false;
  if (claim.are_arguments_placed) return true;
  const settled = creation?.values['constructorArguments'] ?? null;
  const isPlaced = (creation?.transformations.length ?? 0) > 0;
  return !isPlaced && settled === claim.constructor_arguments;
}

/**
 * Puts a creation that a verification proved in the place of what an import claims of it, where the imported match stays
 * shown: transaction, block, index, deployer, creation code, and arguments where the creation code of the submission
 * matches. That of the imported text is not known, so that nothing is judged of it.
 * @throws FullmatchError contract_changed
 */
export async function replaceClaimedCreation(
  transaction: Queryable,
  contract: VerifiedContract,
): Promise<void> {
  const { chainId, address, creationMatch } = contract;
  const { transactionHash, creationCode } = contract.deployment;
  if (transactionHash === undefined || creationCode === undefined) return;
  const claim = await readClaim(transaction, contract);
  if (claim === undefined) return;
  const deployment = factsFor(claim, contract.deployment);
  const judged = creationMatch === null ? undefined : contract.creation;
  const creation = settleArguments(claim, creationCode, judged);
  if (isShown(claim, { chainId, address, deployment }, creation)) return;
  await store(transaction, contract, { claim, deployment, creation });
}

/**
 * Takes claimed arguments away that a proven creation code does not end with, from the record that was looked at.
 * @returns whether there were any
 */
export async function dropFalseArguments(
  transaction: Queryable,
  contract: ProvenContract,
  matchId: string,
  creation: Creation,
): Promise<boolean> {
  const claim = await readClaim(transaction, contract);
  if (claim?.match_id !== matchId || claim.constructor_arguments === null) return false;
  if (claim.are_arguments_placed) return false;
  if (settleArguments(claim, creation.creationCode, undefined) !== undefined) return false;
  const { runtimeCode } = contract.deployment;
  const { transactionHash, blockNumber, transactionIndex, deployer, creationCode } = creation;
  const deployment = factsFor(claim, {
    ...{ transactionHash, blockNumber, transactionIndex, deployer, creationCode },
    ...(runtimeCode && { runtimeCode }),
  });
  return store(transaction, contract, { claim, deployment, creation: undefined });
}

/**
 * Takes a transaction away that a quorum says is not the creation of what stands there, and arguments that were proven of
 * it, from the record that was looked at. Arguments that were only claimed stay claimed: nothing tells of them.
 * @returns whether the match was still shown
 */
export async function dropFalseTransaction(
  transaction: Queryable,
  contract: ProvenContract,
  matchId: string,
): Promise<boolean> {
  const claim = await readClaim(transaction, contract);
  if (claim?.match_id !== matchId) return false;
  const { constructor_arguments: constructorArguments, are_arguments_placed: isProven } = claim;
  const { runtimeCode } = contract.deployment;
  return store(transaction, contract, {
    claim,
    deployment: factsFor(claim, { ...(runtimeCode && { runtimeCode }) }),
    creation:
      constructorArguments === null || isProven
        ? undefined
        : { transformations: [], values: { constructorArguments } },
  });
}

/** What the record of a claim says from now on. */
interface SettledClaim {
  readonly claim: Claim;
  readonly deployment: Deployment;
  readonly creation: Transformed | undefined;
}

async function store(
  transaction: Queryable,
  contract: ProvenContract,
  { claim, deployment, creation }: SettledClaim,
): Promise<boolean> {
  const eventNumber = await attachCreation(transaction, {
    ...{ contract, deployment, matchId: claim.match_id, creationMatch: null },
    ...(creation && { creation }),
  });
  return eventNumber !== undefined;
}
