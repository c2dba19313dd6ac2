import { type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import { type Core } from '../core/open-core.ts';
import { FullmatchError } from '../errors.ts';
import { isPassingReason, reindex } from '../verification/known-codes/reindex.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { showProgress } from './progress-line.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';
import { countOf } from '../lib/count-of.ts';

/** Result of a run. */
interface ReindexReport {
  readonly compilations: number;
  readonly contracts: number;
  /** Number of skipped compilations by reason. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** `fullmatch reindex`: exits 75 if something could not be compiled for now. */
export function defineReindex(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('[chain]', 'Chain id, CAIP-2 id, short name or name; default: all chains.')
    .option('--json', 'Print JSON.')
    .action(async (ref: string | undefined, options: ParsedOptions) => {
      const report = await withCore(
        options,
        context,
        'reindex',
        (core) => reindexStored(core, ref, context),
        { registry: 'stored' },
      );
      writeResult(context, options, report, () => textOf(report));
      const reasons = Object.entries(report.reasons).filter(([reason]) => isPassingReason(reason));
      const missed = reasons.reduce((sum, [, count]) => sum + count, 0);
      if (missed === 0) return;
      throw new FullmatchError(
        'not_checked',
        `The sources of ${missed} compilations could not be compiled now. Run the command again when their compilers are here: fullmatch compilers fetch`,
        { details: { compilations: missed, reasons: Object.fromEntries(reasons) } },
      );
    });
}

async function reindexStored(
  core: Core,
  ref: string | undefined,
  context: CliContext,
): Promise<ReindexReport> {
  const { database } = await core.store();
  const chain = ref === undefined ? undefined : findChain((await core.registry()).registry, ref);
  const { reader, sourceBytes } = await core.verificationParts();
  const parts = { database, reader, sourceBytes, compilers: await core.compilers() };
  const asked = {
    chainId: chain?.record.chainId,
    workers: Math.max(1, core.loaded.config.verification.workers),
  };
  const reasons: Record<string, number> = {};
  let [compilations, contracts] = [0, 0];
  const progress = showProgress(context, () => progressText(compilations, contracts));
  try {
    for await (const done of reindex(parts, asked, context.signal)) {
      compilations += 1;
      contracts += done.contracts;
      const { reason } = done;
      if (reason !== undefined) reasons[reason] = (reasons[reason] ?? 0) + 1;
      progress.update(undefined);
    }
  } finally {
    progress.end();
  }
  return { compilations, contracts, reasons };
}

const progressText = (compilations: number, contracts: number): string =>
  `${countOf(compilations, 'compilation')}, ${countOf(contracts, 'contract')} indexed`;

function textOf({ compilations, contracts, reasons }: ReindexReport): string {
  const head = `${progressText(compilations, contracts)}\n`;
  const rows = Object.entries(reasons).map(([reason, count]) => [reason, String(count)]);
  return rows.length === 0 ? head : head + renderTable(['not indexed', 'compilations'], rows);
}
