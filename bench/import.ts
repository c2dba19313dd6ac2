/**
 * Import and export compared with COPY, with the service running: `npm run build && npm run bench:import [--
 * contracts of the tree, of the Parquet export]`. Both commands run as for operators, in separate processes
 * on the service's data directory.
 */
import { cpSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { silentLogger } from '../src/log.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { COPY_BEGIN, COPY_END, CopyRows } from '../src/store/copy-rows.ts';
import { openStore, type Store } from '../src/store/open-store.ts';
import { ALL_CHAINS, runProgram, startProgram } from '../test/support/booted-service.ts';
import { manyContracts, writeExampleTree } from '../test/support/example-tree.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { measureCopy, timed, whole } from './copied-rows.ts';
import { writeScaleExport } from './scale-export.ts';

const [TREE = 5_000, PARQUET = 50_000] = process.argv.slice(2).map(Number);
const PROBE_PAUSE_MS = 20;
const FILES_OF_A_COPY = 2_000;

type Cells = Record<string, string>;
const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((left, right) => left - right)[Math.floor(share * (values.length - 1))] ?? NaN;

/**
 * Requests both documents and a list repeatedly until stopped.
 * @returns the response times
 */
function probe(urls: readonly string[]): { readonly stop: () => Promise<readonly number[]> } {
  let isOver = false;
  const times: number[] = [];
  const asked = (async () => {
    for (let round = 0; !isOver; round += 1) {
      const url = urls[round % urls.length] ?? '';
      times.push(await timed(async () => (await fetch(url)).arrayBuffer()));
      await delay(PROBE_PAUSE_MS);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await asked;
      return times;
    },
  };
}

/**
 * Runs a command to completion.
 * @returns its milliseconds and its peak memory in MB
 */
async function run(
  args: readonly string[],
  dataDir: string,
): Promise<{ readonly ms: number; readonly mostMemory: number }> {
  let mostMemory = 0;
  const ms = await timed(async () => {
    const environment = { ...ALL_CHAINS, FULLMATCH_DATA_DIR: dataDir };
    const { child, ended, stderr } = runProgram([...args, '--json'], { environment });
    let isOver = false;
    const end = ended.finally(() => (isOver = true));
    while (!isOver) {
      const status = await readFile(`/proc/${child.pid ?? 0}/status`, 'utf8').catch(() => '');
      mostMemory = Math.max(mostMemory, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0));
      await Promise.race([end, delay(100)]);
    }
    if ((await end) !== 0) throw new Error(`${args.join(' ')}: ${stderr()}`);
  });
  return { ms, mostMemory: mostMemory / 1024 };
}

/** Milliseconds of COPY for the bytes of files, into a table without an index. Reading them is not included. */
async function copyFiles(store: Store, folder: string): Promise<{ bytes: number; ms: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return store.onClient(async (client) => {
    await client.query('CREATE TABLE bench_files (path text, content bytea)');
    let ms = 0;
    let bytes = 0;
    for (let at = 0; at < files.length; at += FILES_OF_A_COPY) {
      const rows = new CopyRows();
      for (const { name, parentPath } of files.slice(at, at + FILES_OF_A_COPY)) {
        const file = path.join(parentPath, name);
        const content = await readFile(file);
        bytes += content.length;
        rows.begin(2).text(path.relative(folder, file)).bytes(content);
      }
      const parts = [COPY_BEGIN, rows.take(), COPY_END];
      const into = 'COPY bench_files FROM STDIN (FORMAT binary)';
      ms += await timed(() => pipeline(Readable.from(parts), client.query(copyFrom(into))));
    }
    await client.query('DROP TABLE bench_files');
    return { bytes, ms };
  });
}

async function measure(
  kind: 'tree' | 'parquet',
  contracts: number,
  folder: string,
): Promise<Cells> {
  const source = path.join(folder, kind);
  if (kind === 'tree') {
    await writeExampleTree(source, { layout: 'v1', contracts: manyContracts(contracts) });
  } else await writeScaleExport(path.join(source, 'v2'), contracts);
  const dataDir = path.join(folder, `data-${kind}`);
  const service = await startProgram({
    environment: { ...ALL_CHAINS, FULLMATCH_DATA_DIR: dataDir },
  });
  const urls = [
    `${service.repositoryUrl}/stats.json`,
    `${service.apiUrl}/chains`,
    `${service.apiUrl}/v1/contracts?limit=50`,
  ];
  const rate = (ms: number): string => whole((contracts * 1000) / ms);
  try {
    const idle = probe(urls);
    await delay(5_000);
    const before = await idle.stop();
    const reads = probe(urls);
    const first = await run(['import', source], dataDir);
    const during = await reads.stop();
    const second = await run(['import', source], dataDir);
    const tree = path.join(folder, `${kind}-tree`);
    const trees = await run(['export', tree], dataDir);
    const copied = await timed(async () => cpSync(tree, `${tree}-copy`, { recursive: true }));
    const tables = await run(
      ['export', path.join(folder, `${kind}-tables`), '--format', 'parquet'],
      dataDir,
    );
    const store = await openStore({ poolSize: 4, dataDir }, silentLogger);
    try {
      const recountMs = await timed(async () => {
        const { differences } = await recount(store.database, { repair: false });
        if (differences.length > 0) throw new Error('the counts differ');
      });
      const rows = await measureCopy(store);
      const files = kind === 'tree' ? await copyFiles(store, source) : undefined;
      return {
        contracts: whole(contracts),
        'import, a second': rate(first.ms),
        ...(files && {
          'COPY of the same files, a second': rate(files.ms),
          'import as a share of it': (files.ms / first.ms).toFixed(2),
          'kB a contract': (files.bytes / contracts / 1000).toFixed(0),
        }),
        'COPY of the stored rows, a second': rate(rows.bare),
        'COPY of them with their indexes, a second': rate(rows.indexed),
        'import as a share of that': (rows.indexed / first.ms).toFixed(2),
        'import again, a second': rate(second.ms),
        'memory of the import, MB': whole(first.mostMemory),
        'reads at rest, p50 and p99, ms': [0.5, 0.99]
          .map((share) => percentile(before, share).toFixed(1))
          .join(', '),
        'reads during the import, p50 and p99, ms': [0.5, 0.99]
          .map((share) => percentile(during, share).toFixed(1))
          .join(', '),
        'export as a tree, a second': rate(trees.ms),
        'copy of that tree, a second': rate(copied),
        'export as Parquet, a second': rate(tables.ms),
        'recount, a second': rate(recountMs),
      };
    } finally {
      await store.close();
    }
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
}

const folder = await createTemporaryFolder('fullmatch-bench-import-');
try {
  console.log(`${new Date().toISOString()}, load ${(loadavg()[0] ?? 0).toFixed(1)}`);
  const tree = await measure('tree', TREE, folder.path);
  const parquet = await measure('parquet', PARQUET, folder.path);
  const whats = [...new Set([...Object.keys(tree), ...Object.keys(parquet)])];
  console.table(
    Object.fromEntries(
      whats.map((what) => [what, { tree: tree[what] ?? '', parquet: parquet[what] ?? '' }]),
    ),
  );
} finally {
  await folder.remove();
}
