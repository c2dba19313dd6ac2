// Imports a published tree, archive or database of contracts as claims of its publisher.
import { setInterval } from 'node:timers';
import { stat } from 'node:fs/promises';
import { mapInOrder } from '../lib/map-in-order.ts';
import { type Logger } from '../log.ts';
import {
  type PackedContract,
  type PackedContracts,
  readCurrentMatches,
} from '../repository/repository.ts';
import { type Database, type Queryable } from '../store/database.ts';
import { DEFAULT_IMPORT_LIMITS, type ImportLimits } from './import-limits.ts';
import { type ImportProgress } from './import-progress.ts';
import { type ImportSummary, ImportTally, type Outcome } from './import-tally.ts';
import { hasValidFullMatch, predictOutcome } from './predict-outcome.ts';
import { type ContractLocation } from './read-contract.ts';
import {
  type ContractReadResult,
  ReadingThreads,
  toTransferable,
  type TransferableContract,
} from './reading-threads.ts';
import { Refusal, type RefusedEntry, toRefusal } from './refusal.ts';
import {
  countEntries,
  findTreeRoot,
  MATCH_FOLDERS,
  type TreeEntry,
  walkTree,
} from './repository-tree.ts';
import { type RemoteSource } from './remote-source.ts';
import { type BatchOutcome } from './save-batch.ts';
import { ContractStore } from './store-contracts.ts';
import { type Alliance, countAlliance, openAlliance, walkAlliance } from './walk-alliance.ts';
import { type InstanceWalk, walkInstance } from './walk-instance.ts';
import { walkArchive } from './walk-archive.ts';

/** Source, destination and observers of an import. */
export interface ImportOptions {
  /** The folder that contains `contracts`, `contracts` itself, an archive of either, or the name of the database. */
  readonly path: string;
  /**
   * Source other than a tree: a database (with whether another writer changed the whitespace and escapes of
   * its JSON) or another Fullmatch.
   */
  readonly from?:
    | { readonly database: Queryable; readonly isRewritten: boolean }
    | ({ readonly remote: RemoteSource } & InstanceWalk);
  readonly database: Database;
  /** Name of the source, recorded with each match: a short name such as a host, never a path or credential. */
  readonly sourceName?: string;
  /** Fails if disk space does not suffice for another batch; without it disk space is not checked. */
  readonly requireSpace?: () => Promise<void>;
  /** Checks every entry, also those already stored, and rolls back what it stores. */
  readonly dryRun: boolean;
  readonly log: Logger;
  /** Stops the run after the current batch. */
  readonly signal?: AbortSignal;
  /** Called about four times a second, and once at the end. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Called for each refused entry. */
  readonly onRefused?: (entry: RefusedEntry) => void;
  /** Contracts in a transaction. */
  readonly batchSize?: number;
  readonly limits?: Partial<ImportLimits>;
}

const BATCH_SIZE = 2_000;
const BATCH_BYTES = 32 * 1024 * 1024;
/** Contracts in a request to a thread, and requests for each thread, of which one waits. */
const ASKED_AT_ONCE = 16;
const QUESTIONS_OF_A_THREAD = 2;
/** Addresses in one query for stored matches. */
const GROUP_SIZE = 500;
/** Maximum bytes of such a group that are held in memory. */
const GROUP_BYTES = 64 * 1024 * 1024;
const PROGRESS_INTERVAL_MS = 250;

interface Run {
  readonly options: ImportOptions;
  readonly source: TreeSource;
  readonly limits: ImportLimits;
  readonly tally: ImportTally;
  readonly threads: ReadingThreads;
  readonly isStopped: () => boolean;
  /** What a real run would do with entries of a dry run, where that does not follow from storing them alone. */
  readonly predicted: WeakMap<ContractLocation, Outcome>;
}

/** A tree on disk or in an archive. */
interface TreeSource {
  readonly root: string;
  /** Its walks, in sequence. */
  readonly walks: readonly AsyncIterable<TreeEntry>[];
  /** Total entries, once known. */
  readonly total: (done: number) => number | undefined;
  /** Whether matches come with bytecode, against which they are rechecked. */
  readonly deliversCodes?: true;
  /** Resolves when counting has stopped. */
  readonly counted: Promise<void>;
  /** Whether the tree also has a valid full match for the address of a partial one; used by dry runs only. */
  readonly hasSoundFullMatch: (
    location: ContractLocation,
    isSound: (location: ContractLocation) => Promise<boolean>,
  ) => Promise<boolean>;
}

/**
 * Imports a Verifier Alliance database, a repository tree in layout V1 or V2,
 * `{full_match|partial_match}/{chainId}/{address}/…`, or an archive of one. Every valid contract is stored
 * with origin `imported`; invalid entries are refused individually. A second run skips what is stored.
 * @throws FullmatchError `import_path_unusable`, `storage_full`, and those of the database; contracts stored
 * before the error remain
 */
export async function importRepository(options: ImportOptions): Promise<ImportSummary> {
  const { signal, onProgress, onRefused, dryRun, log } = options;
  const limits = { ...DEFAULT_IMPORT_LIMITS, ...options.limits };
  const ended = new AbortController();
  const source = await openSource(options, limits, ended.signal);
  const run: Run = {
    options,
    source,
    limits,
    tally: new ImportTally((entry) => onRefused?.(entry)),
    threads: new ReadingThreads(),
    isStopped: () => signal?.aborted === true,
    predicted: new WeakMap(),
  };
  const { tally } = run;
  const report = (): void => {
    tally.setTotal(source.total(tally.progress().done));
    onProgress?.(tally.progress());
  };
  const timer = setInterval(report, PROGRESS_INTERVAL_MS);
  try {
    for (const walk of source.walks) {
      await storeInBatches(run, selectLocations(run, walk));
    }
  } finally {
    clearInterval(timer);
    ended.abort();
    await run.threads.close();
    await source.counted;
    report();
  }
  const { root } = source;
  const summary = tally.summarize({ root, dryRun, interrupted: run.isStopped() });
  log.info({ event: 'import_finished', dry_run: dryRun, ...summary.totals }, 'import finished');
  return summary;
}

async function openSource(
  { path, from }: ImportOptions,
  limits: ImportLimits,
  signal: AbortSignal,
): Promise<TreeSource> {
  if (from !== undefined && 'remote' in from) return openInstance(from);
  if (from !== undefined) {
    return openDatabase(await openAlliance(from.database, path, from.isRewritten), path);
  }
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  if (isFile) {
    let share = 0;
    return {
      root: path,
      walks: [walkArchive(path, limits, (read) => (share = read))],
      total: (done) => (share === 0 ? undefined : Math.round(done / share)),
      counted: Promise.resolve(),
      // An archive is read once, so its entries are checked independently.
      hasSoundFullMatch: () => Promise.resolve(false),
    };
  }
  const root = await findTreeRoot(path);
  let total: number | undefined;
  const counted = countEntries(root, signal).then((count) => {
    if (!signal.aborted) total = count;
  });
  return {
    root,
    // The full entry of an address is imported first, so its partial entry changes nothing later.
    walks: MATCH_FOLDERS.map((folder) => walkTree(root, folder)),
    total: () => total,
    counted,
    hasSoundFullMatch: (location, isSound) => hasValidFullMatch(root, location, isSound),
  };
}

function openInstance(from: { readonly remote: RemoteSource } & InstanceWalk): TreeSource {
  return {
    root: from.remote.base,
    walks: [walkInstance(from.remote, from)],
    deliversCodes: true,
    total: () => undefined,
    counted: Promise.resolve(),
    hasSoundFullMatch: () => Promise.resolve(false),
  };
}

function openDatabase(alliance: Alliance, name: string): TreeSource {
  let total: number | undefined;
  // Only the progress needs it: a count that takes too long ends no import.
  const counted = countAlliance(alliance).then(
    (count) => void (total = count),
    () => undefined,
  );
  return {
    root: name,
    walks: [walkAlliance(alliance)],
    deliversCodes: true,
    total: () => total,
    counted,
    // Matches of the same address are checked independently.
    hasSoundFullMatch: () => Promise.resolve(false),
  };
}

/** Yields the contracts of a walk that are not stored yet, or all in a dry run. Counts refused and skipped entries. */
async function* selectLocations(
  run: Run,
  entries: AsyncIterable<TreeEntry>,
): AsyncGenerator<ContractLocation, void, undefined> {
  let group: ContractLocation[] = [];
  let held = 0;
  for await (const entry of entries) {
    if (run.isStopped()) return;
    if (entry.kind === 'foreign') run.tally.ignoreForeignFile();
    if (entry.kind === 'refused') run.tally.refuse(entry.path, entry.refusal, entry.chainId);
    if (entry.kind !== 'contract') continue;
    if (group.length >= GROUP_SIZE || held >= GROUP_BYTES) {
      yield* withoutStored(run, group);
      group = [];
      held = 0;
    }
    group.push(entry.location);
    held += entry.location.heldBytes ?? 0;
  }
  yield* withoutStored(run, group);
}

async function* withoutStored(
  run: Run,
  group: readonly ContractLocation[],
): AsyncGenerator<ContractLocation, void, undefined> {
  if (group.length === 0) return;
  const matches = await readCurrentMatches(run.options.database, group);
  for (const [index, location] of group.entries()) {
    if (run.isStopped()) return;
    const current = matches[index];
    const outcome = predictOutcome(location.match, current);
    // Bytecode may raise the trust of a stored claim.
    const mayRise = run.source.deliversCodes === true && current?.trust === 'claimed';
    const isDone = outcome === 'kept' || (outcome === 'unchanged' && !mayRise);
    if (isDone && !run.options.dryRun) {
      run.tally.count(location.chainId, outcome);
      continue;
    }
    if (isDone) run.predicted.set(location, outcome);
    yield location;
  }
}

/**
 * Contracts sent to a thread, and its first response. Contracts missing from the response are requested again
 * later.
 */
interface Asked {
  readonly locations: readonly ContractLocation[];
  readonly question: Omit<Parameters<ReadingThreads['ask']>[0], 'contracts'>;
  readonly sent: readonly TransferableContract[];
  readonly answer: ContractReadResult;
}

/** Contracts to read, and the number of the first. */
interface NumberedGroup {
  readonly locations: readonly ContractLocation[];
  readonly number: number;
}

async function* inGroups(
  all: AsyncIterable<ContractLocation>,
  size: number,
): AsyncGenerator<NumberedGroup, void, undefined> {
  let locations: ContractLocation[] = [];
  let number = 0;
  for await (const location of all) {
    locations.push(location);
    if (locations.length < size) continue;
    yield { locations, number };
    number += locations.length;
    locations = [];
  }
  if (locations.length > 0) yield { locations, number };
}

/** Sends contracts to a thread. If the files of a contract cannot be extracted, it is refused and counted. */
async function askThread(run: Run, { locations, number }: NumberedGroup): Promise<Asked> {
  const { limits, threads, options } = run;
  const prepared = await Promise.all(
    locations.map((location) =>
      toTransferable(location, limits).catch((error: unknown) => {
        const refusal = toRefusal(error, location.path);
        if (!(refusal instanceof Refusal)) throw error;
        run.tally.refuse(location.path, refusal, location.chainId);
        return undefined;
      }),
    ),
  );
  const sound = locations.filter((_, index) => prepared[index] !== undefined);
  const sent = prepared.flatMap((each) => each ?? []);
  const { sourceName } = options;
  const question = {
    limits,
    number,
    ...(sourceName !== undefined && { sourceName }),
  };
  return {
    ...{ locations: sound, question, sent },
    answer: await threads.ask({ ...question, contracts: sent }),
  };
}

/** Yields the rows of the contracts read, in order, with their locations. Refused ones are counted and left out. */
async function* readAll(
  run: Run,
  locations: AsyncIterable<ContractLocation>,
): AsyncGenerator<
  { readonly packed: PackedContracts; readonly read: readonly ContractLocation[] },
  void,
  undefined
> {
  const atOnce = run.threads.count * QUESTIONS_OF_A_THREAD;
  const size = Math.min(ASKED_AT_ONCE, run.options.batchSize ?? BATCH_SIZE);
  for await (const batch of mapInOrder(inGroups(locations, size), atOnce, (group) =>
    askThread(run, group),
  )) {
    const { question, sent } = batch;
    let { answer } = batch;
    for (let done = 0; done < sent.length;) {
      if (run.isStopped()) return;
      const first = done;
      const read = answer.outcomes.flatMap((outcome, index) => {
        const location = batch.locations[first + index];
        if (location === undefined) return [];
        if ('match' in outcome) return [location];
        run.tally.refuse(location.path, outcome.refusal, location.chainId);
        return [];
      });
      yield { packed: answer.packed, read };
      done += answer.outcomes.length;
      if (done >= sent.length) break;
      const number = question.number + done;
      answer = await run.threads.ask({ ...question, number, contracts: sent.slice(done) });
    }
  }
}

/** Stores the contracts in batches, one transaction each, which a dry run rolls back. Reads ahead meanwhile. */
async function storeInBatches(run: Run, found: AsyncIterable<ContractLocation>): Promise<void> {
  const { database, requireSpace, batchSize, dryRun } = run.options;
  const locations = new Map<number, ContractLocation>();
  const options = {
    bounds: { contracts: batchSize ?? BATCH_SIZE, bytes: BATCH_BYTES },
    isStopped: run.isStopped,
    onStored: (contracts: readonly PackedContract[], outcomes: readonly BatchOutcome[]) => {
      contracts.forEach(({ number }, index) => {
        const location = locations.get(number);
        const outcome = outcomes[index];
        locations.delete(number);
        if (location === undefined || outcome === undefined) return;
        if ('saved' in outcome) {
          const { outcome: stored } = outcome.saved;
          run.tally.count(location.chainId, run.predicted.get(location) ?? stored);
        } else run.tally.refuse(location.path, outcome.refusal, location.chainId);
      });
    },
    ...(requireSpace !== undefined && { requireSpace }),
    isRehearsal: dryRun,
  };
  await ContractStore.open(database, options, async (store) => {
    for await (const { packed, read } of readAll(run, found)) {
      if (run.isStopped()) return;
      for (const [index, { number }] of packed.contracts.entries()) {
        const location = read[index];
        if (location === undefined) continue;
        locations.set(number, location);
        if (await isLesserTwin(run, location)) run.predicted.set(location, 'unchanged');
      }
      await store.add(packed);
    }
  });
}

/**
 * Whether the same tree has a valid full match for the address of a partial one, which a real run would have
 * stored before: a dry run rolls it back.
 */
async function isLesserTwin(run: Run, location: ContractLocation): Promise<boolean> {
  const { limits, threads, options } = run;
  if (!options.dryRun) return false;
  return run.source.hasSoundFullMatch(location, async (full) => {
    const contracts = [await toTransferable(full, limits)];
    const { outcomes } = await threads.ask({ contracts, limits, number: 0, isCheck: true });
    return outcomes.some((outcome) => 'match' in outcome);
  });
}
