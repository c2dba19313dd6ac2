import { type Command } from 'commander';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { type Core } from '../core/open-core.ts';
import { FullmatchError } from '../errors.ts';
import { checksumAddress, type Hex } from '../lib/hex.ts';
import { mapInOrder } from '../lib/map-in-order.ts';
import { listMatchesToReverify, type ReverifyFilter } from '../repository/repository.ts';
import { type Database } from '../store/database.ts';
import { recompileClaim, type RecompileOutcome } from '../verification/recheck/recompile-claim.ts';
import { type ClaimOutcome, verifyClaim } from '../verification/recheck/verify-claim.ts';
import { type Deployment } from '../verification/verification-request.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { showProgress } from './progress-line.ts';
import { invalid } from './read-argument.ts';
import { chooseChains, readContractChoice } from './recheck.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';
import { countOf } from '../lib/count-of.ts';

/** Outcomes that are not listed individually. */
const CONFIRMED: ReadonlySet<string> = new Set(['verified', 'recompiled']);

type Reverified = { readonly chainId: number; readonly address: Hex } & (
  ClaimOutcome | RecompileOutcome
);

/** Result of a run. */
interface ReverifyReport {
  /** Number of contracts by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** In text output only contracts that are no longer verified, unless one contract was named. */
  readonly contracts: readonly Reverified[];
}

/**
 * `fullmatch reverify`: exits 6 if a match of this service differs, and 75 if a contract could not be
 * verified for now.
 */
export function defineReverify(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('[chain]', 'Chain id, CAIP-2 id, short name or name; required unless --all is given.')
    .argument('[address]', 'One contract of the chain; default: all that were imported.')
    .option(
      '--all',
      'All imported contracts of all supported chains; with --recompile, of all chains.',
    )
    .option(
      '--since <date>',
      'Only matches stored since this day (UTC) or time, such as 2026-11-01.',
    )
    .option('--source <name>', 'Only matches imported from this source.')
    .option(
      '--matcher-before <version>',
      'Only matches made by a matcher before this version, including those of this service.',
    )
    .option(
      '--recompile',
      'Only compile the sources of imported matches and compare with the delivered code; the chain is not read.',
    )
    .option('--json', 'Print JSON.')
    .action(async (ref: string | undefined, text: string | undefined, options: ParsedOptions) => {
      const address = readContractChoice(ref, text, options);
      const filter = readFilter(options);
      const recompiles = options['recompile'] === true;
      const isListed = options['json'] === true || address !== undefined;
      const report = await withCore(
        options,
        context,
        'reverify',
        (core) => reverify(core, ref, address, { context, filter, isListed, recompiles }),
        { registry: 'stored' },
      );
      writeResult(context, options, report.contracts.map(describe), () => textOf(report));
      const { not_checked: missed = 0, differs = 0 } = report.counts;
      if (differs > 0) {
        throw new FullmatchError(
          'no_match',
          `The stored sources of ${countOf(differs, 'match', 'matches')} no longer compile to the matched code; nothing was changed.`,
          { details: { contracts: differs } },
        );
      }
      if (missed === 0) return;
      throw new FullmatchError(
        'not_checked',
        `${missed} imported contracts could not be checked here; they are unchanged.`,
        { details: { contracts: missed } },
      );
    });
}

/** Matches to verify within their chain, and how to report them. */
interface ReverifyOptions {
  readonly context: CliContext;
  readonly filter: ReverifyFilter;
  readonly isListed: boolean;
  /** Whether to only compile the sources and compare the result with the imported bytecode. */
  readonly recompiles?: boolean;
}

/** @throws FullmatchError invalid_parameter */
function readFilter(options: ParsedOptions): ReverifyFilter {
  const { since, source, matcherBefore } = options as Record<string, string | undefined>;
  const time = since === undefined ? undefined : new Date(since);
  if (time !== undefined && Number.isNaN(time.getTime())) {
    throw invalid(
      'since',
      `--since ${since} is not a date: write 2026-11-01 or 2026-11-01T12:00Z.`,
    );
  }
  if (matcherBefore !== undefined && !/^[1-9]\d{0,8}$/.test(matcherBefore)) {
    throw invalid('matcher-before', `--matcher-before ${matcherBefore} is not a version number.`);
  }
  return {
    ...(time !== undefined && { since: time }),
    ...(source !== undefined && { source }),
    ...(matcherBefore !== undefined && { matcherBefore: Number(matcherBefore) }),
  };
}

/** Yields the named contract, or those of the chosen chains that fit the filter. */
async function* findMatches(
  database: Database,
  chains: ChainRegistry['chains'],
  address: Hex | undefined,
  filter: ReverifyFilter,
): AsyncGenerator<Deployment> {
  for (const { record } of chains) {
    const { chainId } = record;
    if (address !== undefined) yield { chainId, address };
    else {
      for await (const each of listMatchesToReverify(database, chainId, filter)) {
        yield { chainId, address: each };
      }
    }
  }
}

/**
 * Verifies stored matches with their own sources: the named contract, or those of the chosen chains that fit
 * the filter.
 */
export async function reverify(
  core: Core,
  ref: string | undefined,
  address: Hex | undefined,
  { context, filter, isListed, recompiles = false }: ReverifyOptions,
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
    const chains = await chooseChains(database, registry, ref, !recompiles);
    const contracts = findMatches(database, chains, address, filter);
    const isOwnToo = filter.matcherBefore !== undefined;
    const check = (deployment: Deployment): Promise<ClaimOutcome | RecompileOutcome> =>
      recompiles
        ? recompileClaim(parts, deployment, signal)
        : verifyClaim(parts, deployment, isOwnToo, signal, log);
    const results = mapInOrder(contracts, workers, async (deployment) => ({
      ...deployment,
      ...(await check(deployment)),
    }));
    for await (const result of results) {
      // Verified or withdrawn by another process meanwhile.
      if (result.outcome === 'not_claimed' && address === undefined) continue;
      counts[result.outcome] = (counts[result.outcome] ?? 0) + 1;
      if (isListed || !CONFIRMED.has(result.outcome)) listed.push(result);
      progress.update(undefined);
    }
  } finally {
    progress.end();
  }
  return { counts, contracts: listed };
}

/** Formats counts by outcome: `12 verified, 3 not_checked`. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
  return texts.length === 0 ? 'no contract to verify' : texts.join(', ');
}

function describe(each: Reverified): object {
  return { ...each, address: checksumAddress(each.address) };
}

function textOf({ counts, contracts }: ReverifyReport): string {
  const head = `${countsText(counts)}\n`;
  if (contracts.length === 0) return head;
  const rows = contracts.map((each) => [
    String(each.chainId),
    checksumAddress(each.address),
    each.outcome === 'not_checked' ? `not_checked (${each.reason})` : each.outcome,
    'match' in each ? (each.match ?? 'none') : '',
  ]);
  return head + renderTable(['chain', 'address', 'outcome', 'match'], rows);
}
