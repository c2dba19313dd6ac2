import { type Command } from 'commander';
import { type ChainList } from '../chains/list/chain-list.ts';
import { findChain } from '../chains/registry/chain-reference.ts';
import { isChainId } from '../chains/registry/list-record.ts';
import { makeRegistry, readChainList } from '../chains/registry/load-registry.ts';
import { readChainHistory } from '../chains/list/chain-history.ts';
import { compareLists } from '../chains/list/compare-lists.ts';
import { findList } from '../chains/list/find-snapshot.ts';
import { listSnapshots } from '../chains/list/snapshots.ts';
import { readServedList } from '../chains/list/start-list-sync.ts';
import { syncList, type SyncOutcome } from '../chains/list/sync-list.ts';
import { createSyncRules } from '../chains/list/sync-rules.ts';
import { recordAttempt } from '../chains/list/sync-state.ts';
import { type LoadedConfig } from '../config/config.ts';
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { readStatistics } from '../repository/statistics/statistics.ts';
import { openGuardedFetch } from '../service/outbound.ts';
import { type Database } from '../store/database.ts';
import {
  differenceJson,
  differenceText,
  historyText,
  outcomesJson,
  outcomesText,
  snapshotsText,
} from './chain-list-text.ts';
import { writeJson, type CliContext } from './cli-context.ts';
import { withStore } from './command-store.ts';
import { addConfigOptions, loadCommandConfig, type ParsedOptions } from './config-options.ts';
import { createCommandLog } from './terminal-log.ts';

const DEADLINE_MS = 60_000;
const SHA256 = /^[0-9a-f]{64}$/;

/** What these commands work with. */
interface OpenLists {
  readonly loaded: LoadedConfig;
  readonly database: Database;
  readonly log: Logger;
  /** The embedded list or the operator's own. */
  readonly fallback: ChainList;
}

/** `fullmatch chains sync`. Like the three below it uses the database: the public lists that were accepted. */
export function defineChainsSync(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .option('--dry-run', 'Asks and judges, and accepts nothing.')
    .option(
      '--accept <hash>',
      'Accepts the list of this SHA-256 whole, although it is refused or records are held back.',
    )
    .option('--json', 'Prints JSON.')
    .action(async (options: ParsedOptions) => {
      const outcome = await withLists(options, context, (lists) => sync(lists, options, context));
      if (options['json']) writeJson(context.stdout, outcomesJson(outcome.outcomes));
      else context.stdout.write(outcomesText(outcome.outcomes, options['dryRun'] === true));
      if (outcome.failure !== undefined) throw outcome.failure;
    });
}

/** `fullmatch chains snapshots`. */
export function defineChainsSnapshots(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .option('--json', 'Prints JSON.')
    .action(async (options: ParsedOptions) => {
      const snapshots = await withLists(options, context, ({ database }) =>
        listSnapshots(database),
      );
      if (options['json']) writeJson(context.stdout, snapshots);
      else context.stdout.write(snapshotsText(snapshots));
    });
}

/** `fullmatch chains diff`. */
export function defineChainsDiff(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<before>', 'current, embedded, the number of a snapshot, or the begin of its hash.')
    .argument('<after>', 'The same.')
    .option('--json', 'Prints JSON.')
    .action(async (before: string, after: string, options: ParsedOptions) => {
      const [old, fresh] = await withLists(options, context, async (lists) => {
        const current = (): Promise<ChainList> => readServed(lists);
        return [
          await findList(lists.database, before, current),
          await findList(lists.database, after, current),
        ] as const;
      });
      const difference = compareLists(old.list.records, fresh.list.records);
      if (options['json']) writeJson(context.stdout, differenceJson(difference));
      else {
        context.stdout.write(`${old.label} → ${fresh.label}: ${differenceText(difference)}`);
      }
    });
}

/** `fullmatch chains history`. */
export function defineChainsHistory(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<chain>', 'An id, a CAIP-2 id, a short name or a name, former ones too.')
    .option('--json', 'Prints JSON.')
    .action(async (ref: string, options: ParsedOptions) => {
      const entries = await withLists(options, context, async (lists) =>
        readChainHistory(lists.database, await findChainId(lists, ref)),
      );
      if (options['json']) writeJson(context.stdout, entries);
      else context.stdout.write(historyText(entries));
    });
}

async function withLists<T>(
  options: ParsedOptions,
  context: CliContext,
  work: (lists: OpenLists) => Promise<T>,
): Promise<T> {
  const loaded = loadCommandConfig(options, context);
  const log = createCommandLog(loaded, context);
  const fallback = await readChainList(loaded.config.registry);
  return withStore(loaded.config, 'chains', log, ({ database }) =>
    work({ loaded, database, log, fallback }),
  );
}

function readServed({ loaded, database, log, fallback }: OpenLists): Promise<ChainList> {
  return readServedList(database, loaded.config.registry.sync.urls, fallback, log);
}

async function readContractChainIds(database: Database): Promise<readonly number[]> {
  return (await readStatistics(database)).chains.map(({ chainId }) => chainId);
}

async function sync(
  { loaded, database, fallback }: OpenLists,
  options: ParsedOptions,
  { signal }: CliContext,
): Promise<SyncOutcome> {
  const { registry, chains } = loaded.config;
  const { urls: sources, maxShrinkPercent } = registry.sync;
  if (sources.length === 0) {
    throw new FullmatchError(
      'invalid_configuration',
      'registry.sync.urls names no source of the public list; set it, such as [https://chainid.network/chains.json].',
    );
  }
  const dryRun = options['dryRun'] === true;
  const inputs = { options: registry, configured: chains, secrets: loaded.secrets };
  const readIds = (): Promise<readonly number[]> => readContractChainIds(database);
  const rules = createSyncRules(() => inputs, readIds, maxShrinkPercent);
  const fetch = openGuardedFetch(
    loaded.config,
    makeRegistry(fallback, registry, chains, await readIds()),
  );
  try {
    const accept = readAccept(options['accept']);
    const outcome = await syncList(
      { database, fetch, fallback, ...rules },
      { sources, dryRun, deadlineMs: DEADLINE_MS, signal, ...(accept && { accept }) },
    );
    if (!dryRun) await recordAttempt(database, outcome.failure);
    return outcome;
  } finally {
    await fetch.close();
  }
}

function readAccept(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (SHA256.test(value.toLowerCase())) return value.toLowerCase();
  throw new FullmatchError(
    'invalid_parameter',
    '--accept takes the SHA-256 of a list, all 64 digits, as fullmatch chains sync --dry-run prints it.',
    { details: { parameter: 'accept' } },
  );
}

/** A decimal id may be one that no list has any more. */
async function findChainId(lists: OpenLists, ref: string): Promise<number> {
  if (/^\d+$/.test(ref) && isChainId(Number(ref))) return Number(ref);
  const { registry, chains } = lists.loaded.config;
  const list = await readServed(lists);
  const ids = await readContractChainIds(lists.database);
  return findChain(makeRegistry(list, registry, chains, ids), ref).record.chainId;
}
