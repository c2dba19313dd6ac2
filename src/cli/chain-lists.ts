import { type Command } from 'commander';
import { syncList, type SyncOutcome } from '../chains/list/sync-list.ts';
import { createSyncRules } from '../chains/list/sync-rules.ts';
import { recordAttempt } from '../chains/list/sync-state.ts';
import { type Core } from '../core/open-core.ts';
import { FullmatchError } from '../errors.ts';
import { readContractChainIds } from '../repository/repository.ts';
import { outcomesJson, outcomesText } from './chain-list-text.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { invalid } from './read-argument.ts';
import { withCore } from './with-core.ts';

const DEADLINE_MS = 60_000;
const SHA256 = /^[0-9a-f]{64}$/;

/** `fullmatch chains sync`: fetches the public chain list from its sources now. */
export function defineChainsSync(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .option('--dry-run', 'Check the list without accepting it.')
    .option(
      '--accept <hash>',
      'Accept the list with this SHA-256 completely, including refused and held-back records.',
    )
    .option('--json', 'Print JSON.')
    .action(async (options: ParsedOptions) => {
      const work = (core: Core): Promise<SyncOutcome> => sync(core, options, context);
      const outcome = await withCore(options, context, 'chains', work, {
        registry: 'stored',
        mayCreate: true,
      });
      const text = outcomesText(outcome.outcomes, options['dryRun'] === true);
      writeResult(context, options, outcomesJson(outcome.outcomes), () => text);
      if (outcome.failure !== undefined) throw outcome.failure;
    });
}

async function sync(
  core: Core,
  options: ParsedOptions,
  { signal }: CliContext,
): Promise<SyncOutcome> {
  const fallback = await core.list();
  const { database } = await core.store();
  const { urls: sources, maxShrinkPercent } = core.loaded.config.registry.sync;
  if (sources.length === 0) {
    throw new FullmatchError(
      'invalid_configuration',
      'registry.sync.urls has no source of the public list; set it, for example to [https://chainid.network/chains.json].',
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
  throw invalid(
    'accept',
    '--accept needs the SHA-256 of a list, all 64 digits, as printed by fullmatch chains sync --dry-run.',
  );
}
