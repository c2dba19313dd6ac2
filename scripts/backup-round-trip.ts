/**
 * Backs up a database while a service runs and contracts are imported, restores it elsewhere, and compares:
 * `npm run build && npx tsx scripts/backup-round-trip.ts [contracts]`, 100,000 by default. Exits with 6 if the
 * restored service publishes counts that differ from the backup's, or `recount` finds a difference.
 */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeScaleExport } from '../bench/scale-export.ts';
import { manyContracts, writeExampleTree } from '../test/support/example-tree.ts';
import { ALL_CHAINS, runProgram, startProgram } from '../test/support/booted-service.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';

const [contracts = 100_000] = process.argv.slice(2).map(Number);
/** Contracts that are imported during the backup. */
const MORE = 2_000;

interface Counts {
  readonly full_match: number;
  readonly partial_match: number;
}

const folder = await createTemporaryFolder('fullmatch-round-trip-');
const at = (name: string): string => path.join(folder.path, name);
const environmentOf = (data: string) => ({ ...ALL_CHAINS, FULLMATCH_DATA_DIR: at(data) });

/**
 * Runs a command to its end.
 * @returns its output and its seconds
 */
async function run(data: string, ...args: readonly string[]): Promise<readonly [string, number]> {
  const begun = performance.now();
  const { ended, lines, stderr } = runProgram([...args, '--json'], {
    environment: environmentOf(data),
  });
  const end = await ended;
  if (end !== 0)
    throw new Error(`${args.join(' ')} ended with ${end}: ${stderr()}${lines.join('\n')}`);
  return [lines.join('\n'), Math.round(performance.now() - begun) / 1_000];
}

async function readSum(repositoryUrl: string): Promise<number> {
  const response = await fetch(`${repositoryUrl}/stats.json`);
  const counts = Object.values((await response.json()) as Record<string, Counts>);
  return counts.reduce((sum, { full_match, partial_match }) => sum + full_match + partial_match, 0);
}

try {
  await writeScaleExport(at('export/v2'), contracts);
  await writeExampleTree(at('tree'), { layout: 'v1', contracts: manyContracts(MORE) });
  const [, importSeconds] = await run('first', 'import', at('export'));

  const service = await startProgram({ environment: environmentOf('first') });
  let isOver = false;
  const times: number[] = [];
  const reading = (async () => {
    while (!isOver) {
      const begun = performance.now();
      await (await fetch(`${service.apiUrl}/v1/contracts?limit=50`)).arrayBuffer();
      times.push(performance.now() - begun);
      await delay(5);
    }
  })();
  const writing = run('first', 'import', at('tree'));
  const [, backupSeconds] = await run('first', 'backup', at('backup.tgz'));
  await writing;
  isOver = true;
  await reading;
  service.child.kill('SIGTERM');
  await service.ended;

  const [manifest, restoreSeconds] = await run('second', 'restore', at('backup.tgz'));
  const { schemas } = JSON.parse(manifest) as { schemas: readonly { contracts: number }[] };
  const backedUp = schemas[0]?.contracts ?? 0;
  const restored = await startProgram({ environment: environmentOf('second') });
  const sum = await readSum(restored.repositoryUrl);
  restored.child.kill('SIGTERM');
  await restored.ended;
  const [, recountSeconds] = await run('second', 'recount');
  times.sort((left, right) => left - right);
  console.log(
    JSON.stringify({
      ...{ contracts, importSeconds, backupSeconds, restoreSeconds, recountSeconds },
      p99ReadMs: Math.round(times[Math.floor(times.length * 0.99)] ?? NaN),
      ...{ backedUp, restored: sum },
    }),
  );
  if (sum !== backedUp || backedUp < contracts) process.exitCode = 6;
} finally {
  await folder.remove();
}
