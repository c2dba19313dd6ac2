// Brings a published tree of contracts into the repository, as claims of its publisher.
import { setInterval } from 'node:timers';
import { mapInOrder } from '../lib/map-in-order.ts';
import { type Logger } from '../log.ts';
import { type CurrentMatch, readCurrentMatches } from '../repository/repository.ts';
import { ContentHasher } from './content-hash.ts';
import { DEFAULT_IMPORT_LIMITS, type ImportLimits } from './import-limits.ts';
import { type ImportProgress } from './import-progress.ts';
import { type ImportSummary, ImportTally, type Outcome } from './import-tally.ts';
import { hasSoundFullMatch, predictOutcome } from './predict-outcome.ts';
import { type ContractLocation, readContract, type ReadContract } from './read-contract.ts';
import { Refusal, type RefusedEntry, refusalOfSystemError } from './refusal.ts';
import {
  countEntries,
  findTreeRoot,
  MATCH_FOLDERS,
  type TreeEntry,
  walkTree,
} from './repository-tree.ts';
import { type RepositoryDatabase, saveBatch } from './save-batch.ts';

/** What to import, where to, and who hears of the progress. */
export interface ImportOptions {
  /** The folder that holds `contracts`, or `contracts` itself. */
  readonly path: string;
  readonly database: RepositoryDatabase;
  /** Fails when there is too little space for another batch; without it nobody looks. */
  readonly requireSpace?: () => Promise<void>;
  /** Checks every entry, also those already stored, and stores nothing. */
  readonly dryRun: boolean;
  readonly log: Logger;
  /** Stops the run after the batch that is being stored. */
  readonly signal?: AbortSignal;
  /** Called about four times a second, and once at the end. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Called for each refused entry as it is met. */
  readonly onRefused?: (entry: RefusedEntry) => void;
  /** Contracts in a transaction. */
  readonly batchSize?: number;
  readonly limits?: Partial<ImportLimits>;
}

const BATCH_SIZE = 200;
const BATCH_BYTES = 8 * 1024 * 1024;
/** Contracts read at once; with the limit of bytes for each this bounds the memory. */
const READS_AT_ONCE = 8;
/** Addresses asked for in one query, whether they are stored already. */
const GROUP_SIZE = 500;
const PROGRESS_INTERVAL_MS = 250;

interface Run {
  readonly options: ImportOptions;
  readonly root: string;
  readonly limits: ImportLimits;
  readonly tally: ImportTally;
  readonly hasher: ContentHasher;
  readonly isStopped: () => boolean;
}

/** A contract to read, with the match that its address has already. */
interface Candidate {
  readonly location: ContractLocation;
  readonly current: CurrentMatch | undefined;
}

/**
 * Imports a repository tree in layout V1 or V2: `{full_match|partial_match}/{chainId}/{address}/…`. Every sound
 * contract is stored with origin `imported`; a bad entry is refused alone. A second run skips what is stored.
 * @throws FullmatchError `import_path_unusable`, `storage_full`, and those of the database: what was stored until then stays
 */
export async function importRepository(options: ImportOptions): Promise<ImportSummary> {
  const root = await findTreeRoot(options.path);
  const { signal, onProgress, onRefused, dryRun, log } = options;
  const run: Run = {
    options,
    root,
    limits: { ...DEFAULT_IMPORT_LIMITS, ...options.limits },
    tally: new ImportTally((entry) => onRefused?.(entry)),
    hasher: new ContentHasher(),
    isStopped: () => signal?.aborted === true,
  };
  const { tally } = run;
  const ended = new AbortController();
  const counting = countEntries(root, ended.signal).then((total) => {
    if (!ended.signal.aborted) tally.setTotal(total);
  });
  const timer = setInterval(() => onProgress?.(tally.progress()), PROGRESS_INTERVAL_MS);
  try {
    // An address in both trees rises to full first, so its partial entry changes nothing later.
    for (const folder of MATCH_FOLDERS) {
      const candidates = selectCandidates(run, walkTree(root, folder));
      if (dryRun) await checkOnly(run, candidates);
      else await storeInBatches(run, candidates);
    }
  } finally {
    clearInterval(timer);
    ended.abort();
    await counting;
    onProgress?.(tally.progress());
  }
  const summary = tally.summarize({ root, dryRun, interrupted: run.isStopped() });
  log.info({ event: 'import_finished', dry_run: dryRun, ...summary.totals }, 'import finished');
  return summary;
}

/** The contracts of a walk that are not stored yet, or all in a dry run. Refused and skipped entries are counted here. */
async function* selectCandidates(
  run: Run,
  entries: AsyncIterable<TreeEntry>,
): AsyncGenerator<Candidate, void, undefined> {
  let group: ContractLocation[] = [];
  for await (const entry of entries) {
    if (run.isStopped()) return;
    if (entry.kind === 'foreign') run.tally.ignoreForeignFile();
    if (entry.kind === 'refused') run.tally.refuse(entry.path, entry.refusal, entry.chainId);
    if (entry.kind !== 'contract') continue;
    const [first] = group;
    if (
      group.length >= GROUP_SIZE ||
      (first !== undefined && first.chainId !== entry.location.chainId)
    ) {
      yield* withoutStored(run, group);
      group = [];
    }
    group.push(entry.location);
  }
  yield* withoutStored(run, group);
}

async function* withoutStored(
  run: Run,
  group: readonly ContractLocation[],
): AsyncGenerator<Candidate, void, undefined> {
  const [first] = group;
  if (first === undefined) return;
  const addresses = group.map(({ address }) => address);
  const matches = await readCurrentMatches(run.options.database, first.chainId, addresses);
  for (const location of group) {
    if (run.isStopped()) return;
    const current = matches.get(location.address);
    const outcome = predictOutcome(location.match, current);
    if (!run.options.dryRun && (outcome === 'unchanged' || outcome === 'kept')) {
      run.tally.count(location.chainId, outcome);
    } else yield { location, current };
  }
}

/** Reads a contract; a refused one is counted and gives undefined. */
async function readOrRefuse(
  run: Run,
  location: ContractLocation,
): Promise<ReadContract | undefined> {
  try {
    return await readContract(location, run.limits, run.hasher);
  } catch (error) {
    const refusal = refusalOfSystemError(error, location.path);
    if (!(refusal instanceof Refusal)) throw error;
    run.tally.refuse(location.path, refusal, location.chainId);
    return undefined;
  }
}

/** Stores the contracts in batches, one transaction each. While one is stored, the next is read. */
async function storeInBatches(run: Run, candidates: AsyncIterable<Candidate>): Promise<void> {
  const batchSize = run.options.batchSize ?? BATCH_SIZE;
  let saving = Promise.resolve();
  let batch: ReadContract[] = [];
  let bytes = 0;
  const saveNext = async (): Promise<void> => {
    await saving;
    if (run.isStopped() || batch.length === 0) return;
    saving = storeBatch(run, batch);
    // The failure is met by the next await; until then it is not an unhandled one.
    saving.catch(() => undefined);
    batch = [];
    bytes = 0;
  };
  try {
    const contracts = mapInOrder(candidates, READS_AT_ONCE, ({ location }) =>
      readOrRefuse(run, location),
    );
    for await (const contract of contracts) {
      if (run.isStopped()) break;
      if (contract === undefined) continue;
      batch.push(contract);
      bytes += contract.bytes;
      if (batch.length >= batchSize || bytes >= BATCH_BYTES) await saveNext();
    }
    await saveNext();
  } finally {
    await saving;
  }
}

async function storeBatch(run: Run, batch: readonly ReadContract[]): Promise<void> {
  const contracts = batch.map(({ contract }) => contract);
  await run.options.requireSpace?.();
  const outcomes = await saveBatch(run.options.database, contracts);
  outcomes.forEach((outcome, index) => {
    const location = batch[index]?.location;
    if (location === undefined) return;
    if ('saved' in outcome) run.tally.count(location.chainId, outcome.saved.outcome);
    else run.tally.refuse(location.path, outcome.refusal, location.chainId);
  });
}

/** The dry run: reads and checks every contract and counts what storing it would do. */
async function checkOnly(run: Run, candidates: AsyncIterable<Candidate>): Promise<void> {
  const isSound = (location: ContractLocation): Promise<boolean> =>
    readContract(location, run.limits, run.hasher).then(
      () => true,
      () => false,
    );
  const predict = async ({ location, current }: Candidate): Promise<Outcome | undefined> => {
    if ((await readOrRefuse(run, location)) === undefined) return undefined;
    const isLesserTwin = await hasSoundFullMatch(run.root, location, isSound);
    return isLesserTwin ? 'unchanged' : predictOutcome(location.match, current);
  };
  const checked = mapInOrder(candidates, READS_AT_ONCE, async (candidate) => ({
    chainId: candidate.location.chainId,
    outcome: await predict(candidate),
  }));
  for await (const { chainId, outcome } of checked) {
    if (run.isStopped()) return;
    if (outcome !== undefined) run.tally.count(chainId, outcome);
  }
}
