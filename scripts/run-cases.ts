/**
 * Runs a folder of verification cases through the service's own judge and reports every difference from a case's
 * expectation.
 *
 *   npx tsx scripts/run-cases.ts <folder> [--compilers <folder>] [--json]
 *
 * A case is compiled with the compiler that it names, if the tests have it installed or the folder of `--compilers`
 * contains it as `soljson-v<long version>.js`. Otherwise scripts/replay-compiler.mjs replays its recorded output.
 * Exits with 1 if a case differs, and with 2 if there is none.
 */
import { parseArgs } from 'node:util';
import { createCompilers } from '../src/compilers/compilers.ts';
import { silentLogger } from '../src/log.ts';
import { createJobReader } from '../src/verification/compilation/job-reader.ts';
import { SOLC_PACKAGES } from '../test/support/solc-packages.ts';
import { runCase, type CaseOutcome } from '../test/support/verification-cases/run-case.ts';
import { readVerificationCases } from '../test/support/verification-cases/verification-case.ts';

const SHOWN_CHARACTERS = 300;

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

function printOutcome(name: string, { differences, compiler, skipped }: CaseOutcome): void {
  if (skipped !== undefined) {
    console.log(`skipped    ${name}: ${skipped}`);
    return;
  }
  console.log(
    `${differences.length === 0 ? 'equal    ' : 'different'}  ${name} (${compiler} compiler)`,
  );
  for (const { what, expected, got } of differences) {
    console.log(`  ${what}\n    expected ${show(expected)}\n    got      ${show(got)}`);
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { compilers: { type: 'string' }, json: { type: 'boolean', default: false } },
  });
  const [folder] = positionals;
  if (folder === undefined) throw new TypeError('name a folder of verification cases');
  const directory = values.compilers;
  const compilers = await createCompilers(
    { sources: { packages: SOLC_PACKAGES, ...(directory !== undefined && { directory }) } },
    silentLogger,
  );
  const reader = createJobReader();
  const outcomes: Record<string, CaseOutcome> = {};
  try {
    for (const [name, each] of readVerificationCases(folder)) {
      const outcome = await runCase(each, { compilers, reader, folder });
      outcomes[name] = outcome;
      if (!values.json) printOutcome(name, outcome);
    }
  } finally {
    await reader.close();
    await compilers.close();
  }
  const all = Object.values(outcomes);
  const different = all.filter(({ differences }) => differences.length > 0).length;
  const skipped = all.filter((outcome) => outcome.skipped !== undefined).length;
  if (values.json) console.log(JSON.stringify(outcomes, undefined, 2));
  else
    console.log(
      `${all.length - different - skipped} equal, ${different} different, ${skipped} skipped`,
    );
  process.exitCode = all.length === 0 ? 2 : Math.min(1, different);
}

await main();
