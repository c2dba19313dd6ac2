import { type Command } from 'commander';
import { type Core } from '../core/open-core.ts';
import { FullmatchError } from '../errors.ts';
import { checksumAddress, type Hex } from '../lib/hex.ts';
import { mapInOrder } from '../lib/map-in-order.ts';
import { type ClaimOutcome, verifyClaim } from '../verification/recheck/verify-claim.ts';
import { writeJson, writeLine, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { showProgress } from './progress-line.ts';
import { findContracts, readContractChoice } from './recheck.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';

type Reverified = { readonly chainId: number; readonly address: Hex } & ClaimOutcome;

/** What a run did. */
interface ReverifyReport {
  /** How many contracts had each outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** Of text for people only those that are not verified now, unless one contract was named. */
  readonly contracts: readonly Reverified[];
}

/** `fullmatch reverify`: exits 75 where a contract could not be verified now. */
export function defineReverify(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('[chain]', 'Chain id, CAIP-2 id, short name or name; required unless --all is given.')
    .argument('[address]', 'One contract of the chain; default: all that were imported.')
    .option('--all', 'All imported contracts of all supported chains.')
    .option('--json', 'Print JSON.')
    .action(async (ref: string | undefined, text: string | undefined, options: ParsedOptions) => {
      const address = readContractChoice(ref, text, options);
      const isListed = options['json'] === true || address !== undefined;
      const report = await withCore(
        options,
        context,
        'reverify',
        (core) => reverify(core, ref, address, { context, isListed }),
        { registry: 'stored' },
      );
      if (options['json']) writeJson(context.stdout, report.contracts.map(describe));
      else writeText(report, context);
      const { not_checked: missed = 0 } = report.counts;
      if (missed === 0) return;
      throw new FullmatchError(
        'not_checked',
        `${missed} imported contracts could not be verified here; they stay as they are.`,
        { details: { contracts: missed } },
      );
    });
}

async function reverify(
  core: Core,
  ref: string | undefined,
  address: Hex | undefined,
  { context, isListed }: { readonly context: CliContext; readonly isListed: boolean },
): Promise<ReverifyReport> {
  const { registry } = await core.registry();
  const { database } = await core.store();
  const log = await core.log();
  const parts = { ...(await core.verificationParts()), database };
  const workers = Math.max(1, core.loaded.config.verification.workers);
  const { signal } = context;
  const counts: Record<string, number> = {};
  const listed: Reverified[] = [];
  const progress = showProgress(context, () => countsText(counts));
  try {
    const contracts = findContracts(database, registry, ref, address);
    const results = mapInOrder(contracts, workers, async ({ chain, address: each }) => {
      const deployment = { chainId: chain.record.chainId, address: each };
      return { ...deployment, ...(await verifyClaim(parts, deployment, signal, log)) };
    });
    for await (const result of results) {
      if (result.outcome === 'not_claimed' && address === undefined) continue;
      counts[result.outcome] = (counts[result.outcome] ?? 0) + 1;
      if (isListed || result.outcome !== 'verified') listed.push(result);
      progress.update(undefined);
    }
  } finally {
    progress.end();
  }
  return { counts, contracts: listed };
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
  return texts.length === 0 ? 'no imported contract' : texts.join(', ');
}

function describe(each: Reverified): object {
  return { ...each, address: checksumAddress(each.address) };
}

function writeText({ counts, contracts }: ReverifyReport, { stdout }: CliContext): void {
  writeLine(stdout, countsText(counts));
  if (contracts.length === 0) return;
  const rows = contracts.map((each) => [
    String(each.chainId),
    checksumAddress(each.address),
    each.outcome === 'not_checked' ? `not_checked (${each.reason})` : each.outcome,
    'match' in each ? (each.match ?? 'none') : '',
  ]);
  stdout.write(renderTable(['chain', 'address', 'outcome', 'match'], rows));
}
