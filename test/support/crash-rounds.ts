import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { silentLogger } from '../../src/log.ts';
import { advanceFeed } from './advance-feed.ts';
import { recount, type CountDifference } from '../../src/repository/statistics/recount.ts';
import { sql } from '../../src/store/database.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startProgram } from './booted-service.ts';
import { manyContracts, writeExampleTree } from './example-tree.ts';
import { listedChain } from './made-up-lists.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/** Results of the rounds so far. */
export interface CrashReport {
  readonly rounds: number;
  /** Contracts whose storage was acknowledged before a kill. */
  readonly acknowledged: number;
  /** Rounds in which the import was killed before it finished. */
  readonly interrupted: number;
  readonly lost: readonly string[];
  readonly differences: readonly CountDifference[];
}

const IMPORT_SCRIPT = fileURLToPath(new URL('./importing-process.mjs', import.meta.url));
const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONTRACTS = 1500;
const ALL_KEYS = sql(
  'test all keys',
  `SELECT chain_id || ' ' || encode(address, 'hex') AS key FROM current_matches`,
);

/**
 * In each round a service and an import run on one data directory, and at a random moment of the import the
 * service, the import or both are killed with SIGKILL. Then the store is reopened, and everything
 * acknowledged must be there and the counts correct. After a complete import the next round starts on an
 * empty directory.
 */
export async function runCrashRounds(
  rounds: number,
  onRound: (report: CrashReport) => void = () => undefined,
): Promise<CrashReport> {
  const folder = await createTemporaryFolder('fullmatch-crash-');
  const tree = path.join(folder.path, 'tree');
  // Two thousand chains would be read and compressed in each round without being needed.
  const list = path.join(folder.path, 'list.json');
  const fewChains = { registry: { include: 'configured', defaults: false, list } };
  await writeFile(list, JSON.stringify([listedChain(1)]));
  await writeFile(path.join(folder.path, 'fullmatch.yaml'), stringify(fewChains));
  await writeExampleTree(tree, { layout: 'v1', contracts: manyContracts(CONTRACTS) });
  let generation = 0;
  let known = new Set<string>();
  let acknowledged = 0;
  let interrupted = 0;
  const lost: string[] = [];
  const differences: CountDifference[] = [];
  const reportAfter = (done: number): CrashReport => ({
    rounds: done,
    acknowledged: acknowledged + known.size,
    interrupted,
    lost,
    differences,
  });
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const dataDir = path.join(folder.path, `data-${generation}`);
      const finished = await importUntilKilled(dataDir, tree, round, known);
      if (!finished) interrupted += 1;
      const found = await inspect(dataDir);
      lost.push(...[...known].filter((key) => !found.keys.has(key)));
      differences.push(...found.differences);
      onRound(reportAfter(round));
      if (finished) {
        acknowledged += known.size;
        known = new Set();
        generation += 1;
      }
    }
    return reportAfter(rounds);
  } finally {
    await folder.remove();
  }
}

/** Whether the import finished. */
async function importUntilKilled(
  dataDir: string,
  tree: string,
  round: number,
  known: Set<string>,
): Promise<boolean> {
  // In parallel: each takes seconds to start.
  const starting = startProgram({
    environment: { FULLMATCH_DATA_DIR: dataDir },
    workingDirectory: path.dirname(dataDir),
  });
  const importer = spawn(process.execPath, [IMPORT_SCRIPT, dataDir, tree], {
    cwd: PROJECT_ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let buffered = '';
  importer.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (buffered + text).split('\n');
    // A line truncated by the kill was not acknowledged.
    buffered = lines.pop() ?? '';
    for (const line of lines) known.add(line);
  });
  const importEnded = once(importer, 'close');
  starting.catch(() => importer.kill('SIGKILL'));
  const importing = Promise.race([once(importer.stdout, 'data'), importEnded]);
  const [service] = await Promise.all([starting, importing]);
  await Promise.race([delay(Math.random() * 400), importEnded]);
  const finished = importer.exitCode === 0;
  // One third of the rounds keeps the import alive when the service dies, another third the other way round.
  if (round % 3 !== 1) importer.kill('SIGKILL');
  if (round % 3 !== 2) service.child.kill('SIGKILL');
  if (round % 3 === 1) {
    await Promise.race([delay(Math.random() * 200), importEnded]);
    importer.kill('SIGKILL');
  }
  service.child.kill('SIGKILL');
  await Promise.all([importEnded, service.ended]);
  return finished;
}

async function inspect(
  dataDir: string,
): Promise<{ keys: Set<string>; differences: readonly CountDifference[] }> {
  const store = await openStore({ poolSize: 2, dataDir }, silentLogger);
  try {
    const rows = await store.database.query<{ key: string }>(ALL_KEYS);
    const asFound = await recount(store.database, { repair: false });
    await advanceFeed(store.database);
    const followed = await recount(store.database, { repair: false });
    return {
      keys: new Set(rows.map(({ key }) => key)),
      differences: [...asFound.differences, ...followed.differences],
    };
  } finally {
    await store.close();
  }
}

const delay = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
