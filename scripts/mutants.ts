// Compares bytecode matching with an oracle and tries forgeries on the whole service: `npx tsx
// scripts/mutants.ts [--mutants 50000] [--seed N] [--no-forgeries]`. It prints false matches and false data
// that is shown, and exits with 1 if there are any. The forgeries use their own anvil and PostgreSQL, which
// are started and stopped.
import { Command } from 'commander';
import { runForgeries, type ForgeryOutcome } from '../test/support/forgeries/forgery-run.ts';
import { allForgeries } from '../test/support/forgeries/kinds.ts';
import { SUITE_VERSIONS } from '../test/support/bytecode/compiled-suite.ts';
import { runMutants } from '../test/support/mutants/mutant-run.ts';
import { startForgedService } from '../test/support/forgeries/forged-service.ts';

const SHOWN = 5;

async function judgeMutants(mutants: number, seed: number): Promise<number> {
  const report = await runMutants({ versions: SUITE_VERSIONS, mutants, seed });
  console.log(
    `${mutants} mutants (seed ${seed}): the oracle's results are ${JSON.stringify(report.levels)}, ${report.missed} got a lower match than it allows`,
  );
  const kinds = new Map<string, number>();
  for (const { index, sample, kinds: changes, said, atMost } of report.falseMatches) {
    const kind = `${JSON.stringify(said)} instead of ${JSON.stringify(atMost)}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if ((kinds.get(kind) ?? 0) <= SHOWN)
      console.log(`  ${index} ${sample} ${changes.join(', ')}: ${kind}`);
  }
  for (const [kind, count] of kinds) console.log(`${count} × ${kind}`);
  console.log(`${report.falseMatches.length} false matches of mutants`);
  return report.falseMatches.length;
}

async function tryForgeries(every: number): Promise<number> {
  const forgeries = allForgeries().filter((_, index) => index % every === 0);
  const verifying = await startForgedService();
  try {
    const outcomes = await runForgeries(verifying, forgeries, ({ forgery, outcome, detail }) => {
      if (outcome === 'published') console.log(`  PUBLISHED ${forgery.id}: ${detail}`);
    });
    const counts = new Map<string, number>();
    const nameOf = ({ forgery, outcome, detail }: ForgeryOutcome): string =>
      `${forgery.kind}: ${outcome}${outcome === 'refused' ? ` (${detail})` : ''}`;
    for (const each of outcomes) counts.set(nameOf(each), (counts.get(nameOf(each)) ?? 0) + 1);
    for (const [name, count] of counts) console.log(`${count} × ${name}`);
    const published = outcomes.filter(({ outcome }) => outcome === 'published').length;
    console.log(`${outcomes.length} forgeries, ${published} published`);
    return published;
  } finally {
    await verifying.close();
  }
}

await new Command('mutants')
  .description('look for false matches among byte mutants and forgeries')
  .option('--mutants <number>', 'number of mutants', '50000')
  .option('--seed <number>', 'seed of the mutants', String(Math.floor(Math.random() * 2 ** 31)))
  .option('--no-forgeries', 'skip the forgeries')
  .option('--every <number>', 'try every nth forgery', '1')
  .action(async (options: { mutants: string; seed: string; forgeries: boolean; every: string }) => {
    const mutants = Number(options.mutants);
    const found = mutants === 0 ? 0 : await judgeMutants(mutants, Number(options.seed));
    const published = options.forgeries ? await tryForgeries(Number(options.every)) : 0;
    if (found + published > 0) process.exitCode = 1;
  })
  .parseAsync();
