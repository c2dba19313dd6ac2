import { InvalidArgumentError, type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import { type Core } from '../core/open-core.ts';
import { FullmatchError } from '../errors.ts';
import { readGaps, requestBackfill, retryBackfills } from '../monitor/follow/monitor-state.ts';
import { retryCreations } from '../monitor/inbox/inbox-table.ts';
import { type MonitorReport, readMonitorReports } from '../monitor/monitor-report.ts';
import { findMonitored } from '../monitor/monitored-chains.ts';
import { type Database } from '../store/database.ts';
import { writeLine, writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { addListOutputOptions, writeListJson } from './list-output.ts';
import { readAddress } from './read-argument.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';

const CHAIN = 'An id, a CAIP-2 id, a short name or a name; every chain with a monitor without it.';
const NO_MONITOR = 'no chain has a monitor; set chains.<id>.monitor: true';

/** `fullmatch monitor status`: prints how chains are monitored, whichever process does it. */
export function defineMonitorStatus(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command))
    .argument('[chain]', CHAIN)
    .action(async (ref: string | undefined, options: ParsedOptions) => {
      const reports = await withChains(ref, options, context, async (database, chainIds, core) => {
        const { stallSeconds } = core.loaded.config.monitor;
        const bound = { since: Date.now(), stallSeconds };
        const found = await readMonitorReports(database, chainIds, bound);
        const monitored = findMonitored(core.loaded.config.chains);
        return found.map((report): StatusReport => {
          return monitored.includes(report.chainId)
            ? report
            : { ...report, status: 'not_configured' };
        });
      });
      if (writeListJson(context.stdout, options, reports)) return;
      if (reports.length === 0) writeLine(context.stdout, NO_MONITOR);
      else {
        context.stdout.write(renderTable(STATUS_HEADS, reports.map(statusRow)));
        const reasons = reports.flatMap(reasonRows);
        if (reasons.length > 0) {
          context.stdout.write(`\n${renderTable(REASON_HEADS, reasons)}`);
        }
      }
    });
}

/** `fullmatch monitor backfill`: requests a backfill of older blocks, also while the service runs. */
export function defineMonitorBackfill(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<chain>', 'Chain id, CAIP-2 id, short name or name.')
    .requiredOption('--from <block>', 'The first block.', readBlock)
    .requiredOption('--to <block>', 'The last block.', readBlock)
    .option('--json', 'Print JSON.')
    .action(async (ref: string, options: ParsedOptions) => {
      const [from, to] = [options['from'] as number, options['to'] as number];
      const requested = await withChains(
        ref,
        options,
        context,
        async (database, [chainId = 0], core) => {
          requireMonitor(core, chainId);
          return { chainId, range: (await requestBackfill(database, chainId, from, to)) ?? null };
        },
      );
      const { range } = requested;
      const text =
        range === null
          ? 'nothing to do: the monitor reads these blocks as they come'
          : `requested blocks ${range.first} to ${range.last}; fullmatch monitor gaps shows what is left`;
      writeResult(context, options, requested, () => `${text}\n`);
    });
}

/** `fullmatch monitor retry`: retries found contracts now, and block ranges that could not be read. */
export function defineMonitorRetry(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('[chain]', CHAIN)
    .argument('[address]', 'One contract; default: all.')
    .option('--reason <code>', 'Only contracts with this reason, such as metadata_unavailable.')
    .option('--given-up', 'Include contracts that were given up.')
    .option('--json', 'Print JSON.')
    .action(async (ref: string | undefined, text: string | undefined, options: ParsedOptions) => {
      const address = text === undefined ? undefined : readAddress(text);
      const reason = options['reason'] as string | undefined;
      const done = await withChains(ref, options, context, async (database, chainIds, core) => {
        for (const chainId of chainIds) requireMonitor(core, chainId);
        let ranges = 0;
        for (const chainId of chainIds) ranges += await retryBackfills(database, chainId);
        const creations = await retryCreations(database, chainIds, {
          ...(address !== undefined && { address }),
          ...(reason !== undefined && { reason }),
          isGivenUp: options['givenUp'] === true,
        });
        return { creations, ranges };
      });
      const due = `due now: ${done.creations} contracts, ${done.ranges} ranges of blocks\n`;
      writeResult(context, options, done, () => due);
    });
}

/** `fullmatch monitor gaps`: lists blocks that were not read or only partly. */
export function defineMonitorGaps(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command))
    .argument('[chain]', CHAIN)
    .action(async (ref: string | undefined, options: ParsedOptions) => {
      const found = await withChains(ref, options, context, async (database, chainIds) => {
        const all = [];
        for (const chainId of chainIds)
          all.push({ chainId, ...(await readGaps(database, chainId)) });
        return all;
      });
      const rows = found.flatMap(({ chainId, ranges, untraced }) => [
        ...ranges.map(({ first, last, fault }) =>
          gapRow(chainId, 'backfill', first, last, fault?.code),
        ),
        ...untraced.map(({ first, last }) => gapRow(chainId, 'not_traced', first, last, undefined)),
      ]);
      if (writeListJson(context.stdout, options, found)) return;
      if (rows.length === 0) writeLine(context.stdout, 'none');
      else {
        context.stdout.write(renderTable(['chain', 'kind', 'first', 'last', 'fault'], rows));
        if (found.some(({ isCut }) => isCut)) writeLine(context.stdout, '… and more');
      }
    });
}

function gapRow(
  chainId: number,
  kind: string,
  first: number,
  last: number,
  fault: string | undefined,
): string[] {
  return [String(chainId), kind, String(first), String(last), fault ?? '-'];
}

/** Runs `work` with the named chain, or with all monitored chains. */
function withChains<T>(
  ref: string | undefined,
  options: ParsedOptions,
  context: CliContext,
  work: (database: Database, chainIds: readonly number[], core: Core) => Promise<T>,
): Promise<T> {
  return withCore(options, context, 'monitor', async (core) => {
    const chainIds =
      ref === undefined
        ? findMonitored(core.loaded.config.chains)
        : [findChain((await core.registry()).registry, ref).record.chainId];
    return work((await core.store()).database, chainIds, core);
  });
}

/** Fails if no monitor would process a request for the chain. */
function requireMonitor(core: Core, chainId: number): void {
  if (findMonitored(core.loaded.config.chains).includes(chainId)) return;
  throw new FullmatchError(
    'invalid_parameter',
    `Chain ${chainId} has no monitor; set chains.${chainId}.monitor: true.`,
    { details: { parameter: 'chain', chain_id: chainId } },
  );
}

function readBlock(text: string): number {
  const block = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(block)) return block;
  throw new InvalidArgumentError('The number of a block is expected.');
}

type StatusReport = Omit<MonitorReport, 'status'> & {
  readonly status: MonitorReport['status'] | 'not_configured';
};

const STATUS_HEADS = ['chain', 'status', 'block', 'lag', 'found', 'verified', 'waiting', 'fault'];
const REASON_HEADS = ['chain', 'state', 'reason', 'contracts'];

function statusRow({ chainId, status, cursor, counts }: StatusReport): string[] {
  const sum = (...states: string[]): string =>
    String(
      counts
        .filter(({ state }) => states.includes(state))
        .reduce((total, { creations }) => total + creations, 0),
    );
  return [
    ...[String(chainId), status, String(cursor?.number ?? '-'), String(cursor?.lag ?? '-')],
    ...[String(cursor?.found ?? 0), sum('verified'), sum('waiting', 'verifying')],
    cursor?.fault === undefined
      ? '-'
      : `${cursor.fault.code} since ${cursor.fault.since.toISOString()}`,
  ];
}

function reasonRows({ chainId, counts }: StatusReport): string[][] {
  return counts.map(({ state, reason, creations }) => [
    ...[String(chainId), state, reason === '' ? '-' : reason],
    String(creations),
  ]);
}
