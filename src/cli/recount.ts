import { type Command } from 'commander';
import { FullmatchError } from '../errors.ts';
import { checksumAddress } from '../lib/hex.ts';
import {
  type CountDifference,
  type Recount,
  recount,
  UNLISTED_SCHEMA,
} from '../repository/repository.ts';
import { type Store } from '../store/open-store.ts';
import { writeJson, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';
import { countOf } from '../lib/count-of.ts';

/** `fullmatch recount`: compares the counts with the events and the rows. Exits 6 if a difference remains. */
export function defineRecount(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .option('--repair', 'Correct the counts, and record each correction.')
    .option('--json', 'Print JSON.')
    .action(async (options: ParsedOptions) => {
      const repair = options['repair'] === true;
      const { unlisted, ...listed } = await withCore(options, context, 'recount', async (core) =>
        recountBoth(await core.store(), repair),
      );
      if (options['json']) writeJson(context.stdout, { ...listed, ...(unlisted && { unlisted }) });
      else {
        context.stdout.write(recountText(listed));
        if (unlisted) context.stdout.write(`Unlisted: ${recountText(unlisted)}`);
      }
      const differences = [...listed.differences, ...(unlisted?.differences ?? [])];
      refuseDifferences({ ...listed, differences }, repair);
    });
}

/** Recounts the public contracts, and the unlisted ones if there are any. */
async function recountBoth(
  store: Store,
  repair: boolean,
): Promise<Recount & { readonly unlisted?: Recount }> {
  const listed = await recount(store.database, { repair });
  if (!(await store.hasSchema(UNLISTED_SCHEMA))) return listed;
  const unlisted = await recount(await store.openSchema(UNLISTED_SCHEMA), { repair });
  return { ...listed, unlisted };
}

/**
 * Fails if differences remain. A repair fixes all except rows that differ from their evidence, which need a
 * new verification.
 */
function refuseDifferences({ differences }: Recount, repair: boolean): void {
  const left = repair
    ? differences.filter(({ kind }) => kind === 'row_against_evidence')
    : differences;
  if (left.length === 0) return;
  const advice = repair
    ? 'verify or import these contracts again, or withdraw them'
    : 'run: fullmatch recount --repair';
  throw new FullmatchError('counts_differ', `${countOf(left.length, 'difference')}; ${advice}`, {
    details: { differences: left.length },
  });
}

function recountText({ chains, contracts, events, differences, repaired }: Recount): string {
  const found =
    differences.length === 0
      ? 'no differences'
      : `${countOf(differences.length, 'difference')}${repaired ? ', repaired' : ''}`;
  const head = `${countOf(chains, 'chain')}, ${countOf(contracts, 'contract')}, ${countOf(events, 'event')}: ${found}\n`;
  if (differences.length === 0) return head;
  const columns = ['difference', 'chain', 'address', 'stored', 'expected'];
  return head + renderTable(columns, differences.map(differenceRow));
}

function differenceRow({ kind, chainId, address, stored, expected }: CountDifference): string[] {
  const shown = address === undefined ? '-' : checksumAddress(address);
  return [kind, String(chainId), shown, stored, expected];
}
