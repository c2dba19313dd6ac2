import { type CreationSearch } from '../../chains/creation/creation-search.ts';
import { type FindCreationOptions } from '../../chains/creation/find-creation-transaction.ts';
import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type Creation, type CreationRefusal } from '../../chains/rpc/creation.ts';
import { type RunningCode } from '../../chains/rpc/creation-proof.ts';
import { canDestroyItself } from '../../chains/rpc/destroyable-code.ts';
import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import {
  CREATION_DISPROVED,
  CREATION_REPLACED,
  type Contradiction,
  DEPLOYMENT_CORRECTED,
  type Match,
  correctDeployment,
  settleContradictions,
} from '../../repository/repository.ts';
import { sql, type Database } from '../../store/database.ts';
import { type ReadingParts } from '../read-on-chain.ts';

/** Why the creation of a match was withdrawn. */
export type CreationLoss = typeof CREATION_REPLACED | typeof CREATION_DISPROVED;

/** Maximum number of transactions named by imports to prove again; each takes several requests. */
const MAX_CLAIMED = 4;

const READ_CREATION = sql(
  'read matched creation',
  `SELECT verified_contract_id AS match_id, current_matches.creation_match, transaction_hash, block_number,
     transaction_index, origin = 'imported' AS is_claim
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   WHERE current_matches.chain_id = $1 AND current_matches.address = $2 AND transaction_hash IS NOT NULL`,
);
const READ_WITHDRAWN = sql(
  'read withdrawals of a creation',
  `SELECT DISTINCT reason, read_at_block FROM match_events
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   WHERE match_events.chain_id = $1 AND match_events.address = $2 AND kind = 'withdrawn'
     AND reason IN ($3, $4) AND transaction_hash = $5`,
);

// Grouped by hash: a later import with a wrong transaction does not displace a correct one named before.
const READ_CLAIMED = sql(
  'read transactions that imports name',
  `SELECT transaction_hash FROM match_events
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   WHERE match_events.chain_id = $1 AND match_events.address = $2 AND origin = 'imported' AND transaction_hash <> $3
   GROUP BY transaction_hash ORDER BY max(match_events.id) DESC LIMIT ${MAX_CLAIMED}`,
);

/** Refusals that, given by a quorum, mean that another transaction created the current code. */
const DISPROVING: ReadonlySet<string> = new Set<CreationRefusal>([
  'created_again',
  'left_other_code',
]);

/** The same for the creation of a match, which an endpoint without traces may have proven. */
const MATCH_DISPROVING: ReadonlySet<string> = new Set<CreationRefusal>([
  'created_again',
  'left_other_code',
  'created_nothing_here',
]);

/** The same for a transaction that was never proven. */
const CLAIM_DISPROVING: ReadonlySet<string> = new Set<CreationRefusal>([
  'created_again',
  'left_other_code',
  'created_nothing_here',
  'transaction_failed',
  'code_was_there_before',
]);

interface KnownCreation {
  readonly match_id: string;
  readonly creation_match: Match | null;
  readonly transaction_hash: Buffer;
  readonly block_number: string | null;
  readonly transaction_index: string | null;
  /** Whether the match was imported. Its transaction is then only a hint where to search. */
  readonly is_claim: boolean;
}

/** A contract whose creation is checked, its runtime bytecode, and the dependencies of the check. */
export interface CheckedCreation {
  readonly database: Database;
  readonly parts: Pick<ReadingParts, 'findCreation'>;
  readonly chain: RegisteredChain;
  readonly address: Hex;
  readonly running: RunningCode;
  readonly options: Pick<FindCreationOptions, 'signal' | 'quorum'>;
}

/** Options of a check of the stored creation. */
interface CreationCheckOptions {
  /** A transaction that a client claims is the creation. */
  readonly named?: Hex | undefined;
  /** Whether to compare the creation data even if the code cannot be recreated. */
  readonly comparesFacts?: boolean | undefined;
}

async function readKnown({
  database,
  chain,
  address,
}: CheckedCreation): Promise<KnownCreation | undefined> {
  const key = [chain.record.chainId, hexToBytes(address)];
  const [known] = await database.query<KnownCreation>(READ_CREATION, key);
  return known;
}

/** @param asksAll whether to ask all endpoints, because a denial leads to a withdrawal */
async function prove(
  checked: CheckedCreation,
  submitted: Hex,
  asksAll = false,
): Promise<CreationSearch> {
  const { parts, chain, address, running, options } = checked;
  return parts.findCreation(chain, address, {
    ...options,
    running,
    submitted,
    methods: ['submitted_hash'],
    asksAll,
  });
}

/**
 * Returns whether a quorum currently denies that a transaction created the contract, whose code can
 * self-destruct. A denial by fewer endpoints proves nothing: an honest endpoint without traces and old states
 * cannot contradict them.
 */
export async function isCreationDisproved(
  checked: CheckedCreation,
  transactionHash: Hex,
): Promise<boolean> {
  if (!canDestroyItself(checked.running.code)) return false;
  const reason = (await prove(checked, transactionHash)).denied?.get(transactionHash);
  return reason !== undefined && DISPROVING.has(reason);
}

/** Returns whether a quorum denies the stored creation and no endpoint confirms it. */
async function isDisproved(checked: CheckedCreation, known: KnownCreation): Promise<boolean> {
  const stored = bytesToHex(known.transaction_hash);
  const { denied } = await prove(checked, stored, true);
  return MATCH_DISPROVING.has(denied?.get(stored) ?? '');
}

/** Position of a transaction in the chain. */
type Place = Pick<Creation, 'blockNumber' | 'transactionIndex'>;

const placeOf = ({ block_number: block, transaction_index: index }: KnownCreation): Place => ({
  blockNumber: Number(block ?? -1),
  transactionIndex: Number(index ?? -1),
});

function isLater(found: Place, other: Place): boolean {
  if (found.blockNumber !== other.blockNumber) return found.blockNumber > other.blockNumber;
  return found.transactionIndex > other.transactionIndex;
}

function contradictionOf(
  { chain, address, running }: CheckedCreation,
  { match_id: matchId }: KnownCreation,
  reason: CreationLoss,
): Contradiction {
  const { chainId } = chain.record;
  const { code: runtimeCode, blockNumber: readAtBlock } = running;
  return { of: 'creation', chainId, address, reason, matchId, runtimeCode, readAtBlock };
}

/** @returns the reason, if a creation was withdrawn */
async function withdraw(
  checked: CheckedCreation,
  known: KnownCreation,
  reason: CreationLoss,
): Promise<CreationLoss | undefined> {
  if (known.creation_match === null) return undefined;
  const found = [contradictionOf(checked, known, reason)];
  return (await settleContradictions(checked.database, found)).length > 0 ? reason : undefined;
}

/**
 * Proves the creation of a match again: code that can self-destruct may be recreated at its address by other
 * creation bytecode, with the same runtime bytecode. If `named` is proven to be a later creation, the stored
 * one is withdrawn, whatever the code. If the stored creation is proven, its data is corrected to match the
 * chain. Imported claims are not checked until the contract is verified.
 * @returns why the creation was withdrawn, or that its data was corrected; undefined if nothing changed
 */
export async function checkCreation(
  checked: CheckedCreation,
  { named, comparesFacts = false }: CreationCheckOptions,
): Promise<CreationLoss | typeof DEPLOYMENT_CORRECTED | undefined> {
  const known = await readKnown(checked);
  if (known === undefined || known.is_claim) return undefined;
  const stored = bytesToHex(known.transaction_hash);
  const isMatched = known.creation_match !== null;
  if (isMatched && named !== undefined && named !== stored) {
    const { creation } = await prove(checked, named);
    const isProven =
      creation !== undefined && (creation.isFinal || !(await staysWithdrawn(checked, creation)));
    if (isProven && isLater(creation, placeOf(known))) {
      return withdraw(checked, known, CREATION_REPLACED);
    }
  }
  const mayBeAnother = isMatched && canDestroyItself(checked.running.code);
  if (!mayBeAnother && !comparesFacts && named !== stored) return undefined;
  const { creation, denied } = await prove(checked, stored, true);
  if (creation !== undefined) {
    const { database, chain, address } = checked;
    const deployed = { chainId: chain.record.chainId, address, deployment: creation };
    return (await correctDeployment(database, deployed)) ? DEPLOYMENT_CORRECTED : undefined;
  }
  const isDenied = MATCH_DISPROVING.has(denied?.get(stored) ?? '');
  return isMatched && isDenied ? withdraw(checked, known, CREATION_DISPROVED) : undefined;
}

/**
 * Decides which creation a verification may use: the one it found, or the stored one. If it found none, the
 * stored one is proved again, since the submitted sources are judged by it too. Of two proven transactions,
 * the later one created the contract last. A stored one that is earlier is withdrawn. A found one that is
 * earlier, or that {@link staysWithdrawn}, is ignored: states of a few blocks do not show every destruction.
 * A transaction named by an import is only a hint. Writes nothing.
 * @param contradicted collects what has to be withdrawn; if the match itself is among it, its creation is
 * ignored
 */
export async function reconcileCreation(
  checked: CheckedCreation,
  searched: CreationSearch,
  contradicted: Contradiction[],
): Promise<CreationSearch> {
  const stored = contradicted.length > 0 ? undefined : await readKnown(checked);
  const found = await withStored(checked, searched, stored);
  const known = stored?.is_claim === true ? undefined : stored;
  const { creation } = found;
  const lose = (lost: KnownCreation, reason: CreationLoss): void => {
    if (lost.creation_match !== null) contradicted.push(contradictionOf(checked, lost, reason));
  };
  if (creation === undefined) {
    const isMatched = known !== undefined && known.creation_match !== null;
    const mayBeAnother = isMatched && canDestroyItself(checked.running.code);
    if (mayBeAnother && (await isDisproved(checked, known))) lose(known, CREATION_DISPROVED);
    return found;
  }
  const isSame =
    known !== undefined && bytesToHex(known.transaction_hash) === creation.transactionHash;
  if (!creation.isFinal) {
    if (await staysWithdrawn(checked, creation)) return refused(found);
    const reason = isSame ? undefined : await findContradiction(checked, creation);
    if (reason !== undefined) return refused(found, reason);
  }
  if (known === undefined || isSame) return found;
  if (isLater(creation, placeOf(known))) lose(known, CREATION_REPLACED);
  else if (await isDisproved(checked, known)) lose(known, CREATION_DISPROVED);
  else return refused(found);
  return found;
}

/** Returns the search result; if nothing was found, the stored creation if the chain still proves it. */
async function withStored(
  checked: CheckedCreation,
  found: CreationSearch,
  known: KnownCreation | undefined,
): Promise<CreationSearch> {
  if (found.creation !== undefined || known === undefined) return found;
  const stored = bytesToHex(known.transaction_hash);
  if (found.methods.some(({ transactionHash }) => transactionHash === stored)) return found;
  const { creation, methods } = await prove(checked, stored);
  if (creation === undefined) return found;
  return { ...found, creation, methods: [...found.methods, ...methods] };
}

/**
 * Returns why an import contradicts a creation of code that may have been recreated: the import names another
 * transaction that created the contract later, or for which endpoints cannot tell. A transaction that no
 * endpoint knows is ignored, since endpoints prune old ones before new ones.
 */
async function findContradiction(
  checked: CheckedCreation,
  found: Creation,
): Promise<CreationRefusal | undefined> {
  const { database, chain, address } = checked;
  const rows = await database.query<{ transaction_hash: Buffer }>(READ_CLAIMED, [
    chain.record.chainId,
    hexToBytes(address),
    hexToBytes(found.transactionHash),
  ]);
  for (const { transaction_hash: hash } of rows) {
    const claimed = bytesToHex(hash);
    const { creation, denied, methods } = await prove(checked, claimed, true);
    if (creation !== undefined) {
      if (!isLater(found, creation)) return 'created_again';
    } else if (!CLAIM_DISPROVING.has(denied?.get(claimed) ?? '')) {
      const isUnknown = methods.every(({ outcome }) => outcome === 'transaction_not_found');
      if (!isUnknown) return 'not_proven';
    }
  }
  return undefined;
}

/**
 * Returns whether a creation that is proven only by states was withdrawn before and must not be used again. A
 * replaced creation always stays withdrawn, as does one by a proxy, which a trace may have disproved. Any
 * other disproved creation may be used if the states at the block of the withdrawal now prove it; states at
 * other blocks may miss the gap.
 */
async function staysWithdrawn(
  checked: CheckedCreation,
  { transactionHash, method }: Creation,
): Promise<boolean> {
  const { database, chain, address, running } = checked;
  const rows = await database.query<{ reason: string; read_at_block: string | null }>(
    READ_WITHDRAWN,
    [
      chain.record.chainId,
      hexToBytes(address),
      CREATION_REPLACED,
      CREATION_DISPROVED,
      hexToBytes(transactionHash),
    ],
  );
  for (const { reason, read_at_block: block } of rows) {
    if (reason === CREATION_REPLACED || block === null || method === 'proxy') return true;
    const then = { ...checked, running: { ...running, blockNumber: Number(block) } };
    if ((await prove(then, transactionHash)).creation === undefined) return true;
  }
  return false;
}

/** Returns a search result whose creation is rejected. */
function refused(
  { methods }: CreationSearch,
  outcome: CreationRefusal = 'created_again',
): CreationSearch {
  return {
    methods: methods.map((each) => (each.outcome === 'found' ? { ...each, outcome } : each)),
  };
}
