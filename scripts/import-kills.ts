/**
 * Imports a Parquet export that pyarrow wrote while killing the import again and again, and compares the counts:
 * `npm run build && npx tsx scripts/import-kills.ts [contracts] [kills] [python]`, by default 1,000,000 and 20. The
 * Python needs pyarrow (`pip install pyarrow`); without [python], hyparquet-writer writes the files. Exits with
 * 6 if a contract is missing, stored twice or counted wrong.
 */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { placeOf, writeScaleExport } from '../bench/scale-export.ts';
import { ALL_CHAINS, runProgram, startProgram } from '../test/support/booted-service.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';

const [contracts = 1_000_000, kills = 20] = process.argv.slice(2, 4).map(Number);
const python = process.argv[4];
/** A kill comes after at least this time, and at most twice the average time between kills. */
const LEAST_MS = 1_000;
/** Contracts imported in a second, to spread the kills over the whole run. */
const EXPECTED_RATE = 1_200;

/** Writes each file again as pyarrow does: zstd, dictionaries, and several row groups. */
const REWRITE = `
import pathlib, sys
import pyarrow.parquet as parquet
for file in pathlib.Path(sys.argv[1]).rglob('*.parquet'):
    table = parquet.read_table(file)
    parquet.write_table(table, file, compression='zstd', row_group_size=20_000)
`;

interface Progress {
  readonly event?: string;
  readonly totals?: Readonly<Record<string, number>>;
}

function expectedCounts(): Map<string, { full_match: number; partial_match: number }> {
  const counts = new Map<string, { full_match: number; partial_match: number }>();
  for (let number = 0; number < contracts; number += 1) {
    const { chainId, isFull } = placeOf(number);
    const known = counts.get(String(chainId)) ?? { full_match: 0, partial_match: 0 };
    known[isFull ? 'full_match' : 'partial_match'] += 1;
    counts.set(String(chainId), known);
  }
  return counts;
}

const folder = await createTemporaryFolder('fullmatch-kills-');
const source = path.join(folder.path, 'export');
const environment = { ...ALL_CHAINS, FULLMATCH_DATA_DIR: path.join(folder.path, 'data') };

/**
 * Runs the import, and kills it after a time.
 * @returns its exit code, or the signal
 */
async function importOnce(killAfterMs: number | undefined): Promise<{
  readonly end: number | string;
  readonly mostMemoryMb: number;
  readonly totals: Progress['totals'];
}> {
  const { child, ended, lines, stderr } = runProgram(['import', source, '--json'], { environment });
  const timer =
    killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  let isOver = false;
  const end = ended.finally(() => (isOver = true));
  let mostMemory = 0;
  while (!isOver) {
    const status = await readFile(`/proc/${child.pid ?? 0}/status`, 'utf8').catch(() => '');
    mostMemory = Math.max(mostMemory, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0));
    await Promise.race([end, delay(200)]);
  }
  clearTimeout(timer);
  const code = await end;
  if (code !== 0 && code !== 'SIGKILL')
    throw new Error(`the import ended with ${code}: ${stderr()}`);
  const { totals } = code === 0 ? (JSON.parse(lines.join('\n')) as Progress) : {};
  return { end: code, mostMemoryMb: Math.round(mostMemory / 1024), totals };
}

try {
  await writeScaleExport(path.join(source, 'v2'), contracts);
  if (python !== undefined) execFileSync(python, ['-c', REWRITE, source], { stdio: 'inherit' });
  const averageMs = Math.max(LEAST_MS, (contracts / EXPECTED_RATE / (kills + 1)) * 1_000);
  const begun = performance.now();
  let interrupted = 0;
  let mostMemoryMb = 0;
  let last: Awaited<ReturnType<typeof importOnce>> | undefined;
  for (let round = 1; round <= kills; round += 1) {
    const killAfterMs = LEAST_MS + Math.random() * (2 * averageMs - LEAST_MS);
    last = await importOnce(killAfterMs);
    mostMemoryMb = Math.max(mostMemoryMb, last.mostMemoryMb);
    if (last.end === 'SIGKILL') interrupted += 1;
    const seconds = Math.round(killAfterMs / 1_000);
    console.log(`${round} of ${kills}: ${last.end} after at most ${seconds} s`);
  }
  const atEnd = await importOnce(undefined);
  const seconds = (performance.now() - begun) / 1_000;
  mostMemoryMb = Math.max(mostMemoryMb, atEnd.mostMemoryMb);

  const service = await startProgram({ environment });
  const published = (await (await fetch(`${service.repositoryUrl}/stats.json`)).json()) as Record<
    string,
    { full_match: number; partial_match: number }
  >;
  service.child.kill('SIGTERM');
  await service.ended;
  const recount = runProgram(['recount', '--json'], { environment });
  const isConsistent = (await recount.ended) === 0;
  const expected = expectedCounts();
  const wrong = [...expected].filter(([chainId, { full_match, partial_match }]) => {
    const found = published[chainId];
    return found?.full_match !== full_match || found.partial_match !== partial_match;
  });
  const chains = Object.keys(published).length;
  const rate = Math.round(contracts / seconds);
  console.log(
    JSON.stringify({
      ...{ contracts, kills, interrupted, seconds: Math.round(seconds), rate, mostMemoryMb },
      ...{ chains, wrongChains: wrong.length, isConsistent, last: atEnd.totals },
    }),
  );
  if (wrong.length > 0 || chains !== expected.size || !isConsistent) process.exitCode = 6;
} finally {
  await folder.remove();
}
