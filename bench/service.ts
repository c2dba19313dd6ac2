/** Commands, start and stop, idle memory, and the delay until a stored match is visible: `npx tsx bench/service.ts`. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { silentLogger } from '../src/log.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { openStore } from '../src/store/open-store.ts';
import { ALL_CHAINS, runProgram, startProgram } from '../test/support/booted-service.ts';
import { sampleAddress, sampleContract } from '../test/support/sample-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { median } from './median.ts';

const ROUNDS = 7;
const REST_MS = 5_000;
const VISIBLE_ROUNDS = 50;

/** One line of the table; `reference` is the result of a bare counterpart in the same run. */
export interface ServiceBenchmarkRow {
  readonly what: string;
  readonly median: string;
  readonly reference: string;
  readonly ratio: string;
}

const milliseconds = (value: number): string => `${value.toFixed(0)} ms`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Resident memory of a process; for PostgreSQL the sum over all its processes, as proportional shares. */
async function readMemory(pid: number, field: 'Rss' | 'Pss'): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
}

async function findChildren(parent: number): Promise<number[]> {
  const children: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent)
      children.push(Number(name));
  }
  return children;
}

/** The measured command lines; none of them opens a database. */
const COMMANDS = [['--version'], ['--help'], ['chains', 'list']] as const;
const PROGRAM = path.resolve(import.meta.dirname, '../dist/cli/main.js');
const runNode = (...args: readonly string[]): Promise<unknown> =>
  promisify(execFile)(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 });

function compare(what: string, times: number[], reference: string, bare: number[]) {
  return {
    what,
    median: milliseconds(median(times)),
    reference: `${reference}: ${milliseconds(median(bare))}`,
    ratio: (median(times) / median(bare)).toFixed(1),
  };
}

async function measureCommands(): Promise<ServiceBenchmarkRow[]> {
  const bare: number[] = [];
  const times = COMMANDS.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await timeOf(() => runNode('-e', '0')));
    for (const [index, command] of COMMANDS.entries()) {
      times[index]?.push(await timeOf(() => runNode(PROGRAM, ...command)));
    }
  }
  return COMMANDS.map((command, index) =>
    compare(`fullmatch ${command.join(' ')}`, times[index] ?? [], 'node -e 0', bare),
  );
}

/** From the start to the ready line, and from SIGTERM to the end of the process with its PostgreSQL. */
async function measureStarts(folder: string): Promise<ServiceBenchmarkRow[]> {
  const fresh: number[] = [];
  const existing: number[] = [];
  const stops: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await timeOf(() => runNode('-e', '0')));
    const environment = { ...ALL_CHAINS, FULLMATCH_DATA_DIR: path.join(folder, `data-${round}`) };
    for (const times of [fresh, existing]) {
      const start = performance.now();
      const run = await startProgram({ environment });
      times.push(performance.now() - start);
      const stop = performance.now();
      run.child.kill('SIGTERM');
      await run.ended;
      stops.push(performance.now() - stop);
    }
  }
  return [
    compare('start to ready, empty directory', fresh, 'node -e 0', bare),
    compare('start to ready, existing directory', existing, 'node -e 0', bare),
    compare('SIGTERM with nothing to do, to the end', stops, 'node -e 0', bare),
  ];
}

async function measureRest(folder: string): Promise<ServiceBenchmarkRow[]> {
  const dataDir = path.join(folder, 'data-0');
  const environment = { ...ALL_CHAINS, FULLMATCH_DATA_DIR: dataDir };
  const service = await startProgram({ environment });
  const store = await openStore({ poolSize: 2, dataDir }, silentLogger);
  try {
    await fetch(`${service.apiUrl}/chains`);
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const postmaster = store.server.processId ?? 0;
    const servers = [postmaster, ...(await findChildren(postmaster))];
    const shares = await Promise.all(servers.map((pid) => readMemory(pid, 'Pss').catch(() => 0)));
    const rss = await readMemory(service.child.pid ?? 0, 'Rss');
    const visible: number[] = [];
    const counting: number[] = [];
    for (let number = 1; number <= VISIBLE_ROUNDS; number += 1) {
      await saveMatch(
        store.database,
        sampleContract(7, sampleAddress(number), { runtimeMatch: 'full' }),
      );
      visible.push(
        await timeOf(async () => {
          for (;;) {
            const counts = (await (
              await fetch(`${service.repositoryUrl}/stats.json`)
            ).json()) as Record<string, { full_match: number }>;
            if (counts['7']?.full_match === number) return;
          }
        }),
      );
      counting.push(
        await timeOf(() =>
          store.database.query({
            label: 'bench count',
            text: 'SELECT chain_id, match, count(*) FROM current_matches GROUP BY 1, 2',
          }),
        ),
      );
    }
    const plain = median(counting);
    return [
      { what: 'service RSS at rest', median: megabytes(rss), reference: '', ratio: '' },
      {
        what: `its PostgreSQL at rest (${servers.length} processes, PSS)`,
        median: megabytes(shares.reduce((sum, share) => sum + share, 0)),
        reference: '',
        ratio: '',
      },
      {
        what: 'a match of another process, commit to stats.json',
        median: `${median(visible).toFixed(1)} ms`,
        reference: `plain SQL COUNT: ${plain.toFixed(1)} ms`,
        ratio: (median(visible) / plain).toFixed(1),
      },
    ];
  } finally {
    await store.close();
    service.child.kill('SIGTERM');
    await service.ended;
  }
}

/** Measures the built program in dist/. */
export async function runServiceBenchmark(): Promise<ServiceBenchmarkRow[]> {
  const folder = await createTemporaryFolder('fullmatch-bench-');
  try {
    // Once outside the measurement, to warm the file caches.
    await runProgram(['version']).ended;
    return [
      ...(await measureCommands()),
      ...(await measureStarts(folder.path)),
      ...(await measureRest(folder.path)),
    ];
  } finally {
    await folder.remove();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.table(await runServiceBenchmark());
}
