/**
 * Kills a monitor and its database and reorganises its chain's newest blocks many times: `npx tsx
 * scripts/monitor-soak.ts [blocks] [kills] [database kills]`, by default 2000, 30 and 10. Two processes
 * follow one anvil chain that creates contracts in every way; at random moments one of them or PostgreSQL is
 * killed with SIGKILL, or the chain is reorganised 1 to 20 blocks deep. At the end the stored creations must
 * equal those in the chain's own states. Prints the report as JSON; exits with 1 if anything differs. Blocks
 * for which anvil contradicts itself are listed separately (`contradicted`).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '../src/log.ts';
import { type Hex } from '../src/lib/hex.ts';
import { readMonitorStates } from '../src/monitor/follow/monitor-state.ts';
import { openStore, type Store } from '../src/store/open-store.ts';
import { type Anvil, startAnvil } from '../test/support/anvil.ts';
import { readCursor, readStored } from '../test/support/monitored-chain.ts';
import {
  compileMonitoredContracts,
  CREATION_KINDS,
  readTrueCreations,
  sendCreation,
} from '../test/support/monitored-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';

const [blocks = 2000, kills = 30, databaseKills = 10] = process.argv.slice(2).map(Number);
const CHAIN_ID = 72_001;
const DEEPEST = 20;
/** Interval between blocks: the chain continues while processes are killed. */
const PACE_MS = 60;
/** Time for a killed process to move the cursor before the next event. */
const RECOVERY_MS = 12_000;
const SETTLE_MS = 120_000;
const FOLLOWER = fileURLToPath(new URL('../test/support/following-process.ts', import.meta.url));

const random = (below: number): number => Math.floor(Math.random() * below);

/** A process that follows the chain; it is restarted after a kill. */
class Follower {
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;
  complaints = '';

  constructor(dataDir: string, url: string) {
    this.#args = ['--import', 'tsx', FOLLOWER, dataDir, String(CHAIN_ID), url];
  }

  start(): void {
    const child = spawn(process.execPath, this.#args, { stdio: ['pipe', 'ignore', 'pipe'] });
    child.stderr.on('data', (chunk: Buffer) => {
      this.complaints = (this.complaints + chunk.toString()).slice(-4000);
    });
    this.#child = child;
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

async function openDatabase(dataDir: string): Promise<Store> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openStore({ dataDir, poolSize: 4 }, silentLogger);
    } catch (error) {
      if (attempt === 20) throw error;
      await wait(500);
    }
  }
}

/**
 * Lines for which anvil contradicts itself: the trace of the block created the contract, but its states after
 * that block and the next one lack it. This affects the block that a reorganisation leaves on top, thousands
 * of transactions in.
 */
async function readContradictions(anvil: Anvil, lines: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const line of lines) {
    const [block = '', address = ''] = line.split(' ');
    const tag = (number: number): Hex => `0x${number.toString(16)}`;
    const traces = await anvil.request<{ type: string; result?: { address?: string } | null }[]>(
      'trace_block',
      [tag(Number(block))],
    );
    const isMade = traces.some(
      ({ type, result }) => type === 'create' && result?.address?.toLowerCase() === address,
    );
    const after = [Number(block), Number(block) + 1].map((number) =>
      anvil.request<string>('eth_getCode', [address, tag(number)]),
    );
    if (isMade && (await Promise.all(after)).every((code) => code === '0x')) found.push(line);
  }
  return found;
}

/** Mines the blocks, with one or more transactions each, and occasionally reorganises the chain. */
async function makeBlocks(anvil: Anvil): Promise<{ reorganisations: number }> {
  const contracts = await compileMonitoredContracts();
  const receipt = await anvil.send({ data: `0x${contracts.Factory}` });
  const factory = receipt.contractAddress!;
  // The factory survives any reorganisation.
  await anvil.request('anvil_mine', [`0x${(2 * DEEPEST).toString(16)}`]);
  await anvil.request('evm_setAutomine', [false]);
  let reorganisations = 0;
  for (let block = 0, value = 0; block < blocks; block += 1) {
    const transactions = 1 + random(3);
    for (let index = 0; index < transactions; index += 1) {
      value += 1;
      const kind = CREATION_KINDS[random(CREATION_KINDS.length)]!;
      await sendCreation(anvil, contracts, factory, kind, value);
    }
    await anvil.request('anvil_mine', ['0x1']);
    await wait(random(2 * PACE_MS));
    if (block % 40 !== 39) continue;
    const depth = 1 + (reorganisations % DEEPEST);
    await anvil.request('anvil_reorg', [depth, []]);
    reorganisations += 1;
  }
  return { reorganisations };
}

/** Whether such a process existed. */
function killServer(processId: number | undefined): boolean {
  try {
    return processId !== undefined && process.kill(processId, 'SIGKILL');
  } catch {
    return false;
  }
}

const begun = performance.now();
const folder = await createTemporaryFolder('fullmatch-monitor-soak-');
const anvil = await startAnvil({ chainId: CHAIN_ID });
const store = await openDatabase(folder.path);
const followers = [new Follower(folder.path, anvil.url), new Follower(folder.path, anvil.url)];
const report = { blocks, kills: 0, databaseKills: 0, reorganisations: 0 };
try {
  for (const follower of followers) follower.start();
  const cursorNow = (): Promise<number> => readCursor(store.database, CHAIN_ID).catch(() => -1);
  const untilMoved = async (from: number): Promise<void> => {
    const until = performance.now() + RECOVERY_MS;
    while (performance.now() < until && (await cursorNow()) <= from) await wait(100);
  };
  await untilMoved(-1);
  const made = makeBlocks(anvil);
  // Its error is reported where it is awaited.
  made.catch(() => undefined);
  const total = kills + databaseKills;
  for (let event = 0; event < total; event += 1) {
    await untilMoved(await cursorNow());
    await wait(random(1500));
    const isDatabase = (event * databaseKills) % total >= total - databaseKills;
    if (isDatabase) {
      // A server that is just restarting gets another process id shortly.
      while (!killServer(store.server.processId)) await wait(100);
      report.databaseKills += 1;
      console.log(`event ${event + 1} of ${total}: PostgreSQL killed`);
    } else {
      const follower = followers[random(followers.length)]!;
      await follower.end('SIGKILL');
      report.kills += 1;
      await wait(random(500));
      follower.start();
      const cursor = await cursorNow();
      console.log(`event ${event + 1} of ${total}: a monitor killed, cursor ${cursor}`);
    }
  }
  report.reorganisations = (await made).reorganisations;
  const head = Number(await anvil.request<Hex>('eth_blockNumber'));
  const settledBy = performance.now() + SETTLE_MS;
  while (performance.now() < settledBy) {
    if ((await cursorNow()) === head) break;
    await wait(250);
  }
  await wait(1_000);
  const [state] = await readMonitorStates(store.database, [CHAIN_ID]);
  const stored = await readStored(store.database, CHAIN_ID);
  const truth = await readTrueCreations(anvil, 1, head);
  const missing = [...truth].filter((line) => !stored.includes(line));
  const others = stored.filter((line) => !truth.has(line));
  const contradicted = await readContradictions(anvil, others);
  const wrong = others.filter((line) => !contradicted.includes(line));
  const twice = stored.length - new Set(stored).size;
  const seconds = Math.round((performance.now() - begun) / 1000);
  const summary = {
    ...{ ...report, head, cursor: state?.number, seen: state?.reorganisations },
    ...{
      creations: stored.length,
      truth: truth.size,
      missing,
      wrong,
      contradicted,
      twice,
      gaps: state?.gaps,
    },
    ...{ fault: state?.fault, seconds },
  };
  console.log(JSON.stringify(summary));
  const isRight =
    missing.length + wrong.length + twice === 0 && state?.number === head && !state.fault;
  if (!isRight) {
    console.error(followers.map(({ complaints }) => complaints).join('\n'));
    process.exitCode = 1;
  }
} finally {
  for (const follower of followers) await follower.end('SIGKILL');
  await store.close();
  await anvil.stop();
  await folder.remove();
}
