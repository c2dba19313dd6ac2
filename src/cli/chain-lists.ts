import { type Command } from 'commander';
import { type ChainList } from '../chains/list/chain-list.ts';
import { findChain } from '../chains/registry/chain-reference.ts';
import { isChainId } from '../chains/registry/list-record.ts';
import { makeRegistry } from '../chains/registry/load-registry.ts';
import { readChainHistory } from '../chains/list/chain-history.ts';
import { compareLists } from '../chains/list/compare-lists.ts';
import { findList } from '../chains/list/find-snapshot.ts';
import { listSnapshots } from '../chains/list/snapshots.ts';
import { readServedList } from '../chains/list/start-list-sync.ts';
import { syncList, type SyncOutcome } from '../chains/list/sync-list.ts';
import { createSyncRules } from '../chains/list/sync-rules.ts';
import { recordAttempt } from '../chains/list/sync-state.ts';
import { type Core } from '../core/open-core.ts';
import { FullmatchError } from '../errors.ts';
import { readContractChainIds } from '../repository/repository.ts';
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
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { addListOptions, writeListJson } from './list-json.ts';
import { withCore } from './with-core.ts';

const DEADLINE_MS = 60_000;
const SHA256 = /^[0-9a-f]{64}$/;

/** What these commands work with. */
interface OpenLists {
  readonly core: Core;
  readonly database: Database;
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

/** `fullmatch chains snapshots`: lists the public lists that were accepted. */
export function defineChainsSnapshots(command: Command, context: CliContext): void {
  addListOptions(addConfigOptions(command)).action(async (options: ParsedOptions) => {
    const snapshots = await withLists(options, context, ({ database }) => listSnapshots(database));
    if (writeListJson(context.stdout, options, snapshots)) return;
    context.stdout.write(snapshotsText(snapshots));
  });
}

/** `fullmatch chains diff`: prints the changes from one list to another. */
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

/** `fullmatch chains history`: prints how a chain's record changed over the accepted lists. */
export function defineChainsHistory(command: Command, context: CliContext): void {
  addListOptions(addConfigOptions(command))
    .argument('<chain>', 'An id, a CAIP-2 id, a short name or a name, former ones too.')
    .action(async (ref: string, options: ParsedOptions) => {
      const entries = await withLists(options, context, async (lists) =>
        readChainHistory(lists.database, await findChainId(lists, ref)),
      );
      if (writeListJson(context.stdout, options, entries)) return;
      context.stdout.write(historyText(entries));
    });
}

function withLists<T>(
  options: ParsedOptions,
  context: CliContext,
  work: (lists: OpenLists) => Promise<T>,
): Promise<T> {
  const open = async (core: Core): Promise<T> => {
    const fallback = await core.list();
    const { database } = await core.store();
    return work({ core, database, fallback });
  };
  return withCore(options, context, 'chains', open, { registry: 'stored' });
}

async function readServed({ core, database, fallback }: OpenLists): Promise<ChainList> {
  const { urls } = core.loaded.config.registry.sync;
  return readServedList(database, urls, fallback, await core.log());
}

async function sync(
  { core, database, fallback }: OpenLists,
  options: ParsedOptions,
  { signal }: CliContext,
): Promise<SyncOutcome> {
  const { urls: sources, maxShrinkPercent } = core.loaded.config.registry.sync;
  if (sources.length === 0) {
    throw new FullmatchError(
      'invalid_configuration',
      'registry.sync.urls names no source of the public list; set it, such as [https://chainid.network/chains.json].',
    );
  }
  const dryRun = options['dryRun'] === true;
  const { inputs } = await core.registry();
  const rules = createSyncRules(
    () => inputs,
    () => readContractChainIds(database),
    maxShrinkPercent,
  );
  const { fetch } = await core.chains();
  const accept = readAccept(options['accept']);
  const outcome = await syncList(
    { database, fetch, fallback, ...rules },
    { sources, dryRun, deadlineMs: DEADLINE_MS, signal, ...(accept && { accept }) },
  );
  if (!dryRun) await recordAttempt(database, outcome.failure);
  return outcome;
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
  const { registry, chains } = lists.core.loaded.config;
  const list = await readServed(lists);
  const ids = await readContractChainIds(lists.database);
  return findChain(makeRegistry(list, registry, chains, ids), ref).record.chainId;
}
