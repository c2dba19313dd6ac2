/**
 * The cost of following a chain, and the rate at which found contracts are verified, in a service started as
 * with `fullmatch start`: `npx tsx bench/monitor.ts [blocks without creations] [blocks with creations]
 * [seconds at the chain's pace]`. The chain is that of replayed-chain.ts. The reference for following is a
 * bare client that sends the same requests to the same node and parses the responses, with the same number of
 * concurrent blocks.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import path from 'node:path';
import { ALL_CHAINS, startProgram } from '../test/support/booted-service.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { compileCodes, NEWEST } from './compiled-codes.ts';
import { VALUED } from './compiler-inputs.ts';
import { median } from './median.ts';
import { CLONES, CREATIONS, SEED_ADDRESS, startReplayedChain } from './replayed-chain.ts';

const [plainBlocks = 2_000, fullBlocks = 250, paceSeconds = 60] = process.argv.slice(2).map(Number);
const CHAIN_ID = 72_002;
/** The same as the monitor's. */
const AT_ONCE = 4;
/** Twelve times the pace of a chain with one block per twelve seconds. */
const PACE_MS = 1_000;
const SAMPLES = 5;

interface ChainState {
  readonly cursor?: { readonly block: number; readonly lagBlocks?: number };
}

/** The service's reported state and resource usage. */
interface Seen {
  readonly cursor: number;
  readonly verified: number;
  readonly cpuMs: number;
  readonly residentMiB: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

function askNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    });
    asked.on('error', reject);
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  });
}

/** Milliseconds per block of a client that only requests and parses. */
async function readBare(url: string, first: number, last: number): Promise<number> {
  const begun = performance.now();
  let next = first;
  const run = async (): Promise<void> => {
    while (next <= last) {
      const tag = `0x${(next++).toString(16)}`;
      await askNode(url, 'eth_getBlockByNumber', [tag, false]);
      await askNode(url, 'eth_getBlockReceipts', [tag]);
      await askNode(url, 'debug_traceBlockByNumber', [tag, { tracer: 'callTracer' }]);
      await askNode(url, 'eth_getBlockByNumber', [tag, false]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return (performance.now() - begun) / (last - first + 1);
}

/** User and system time of a process since its start, in milliseconds, and its resident memory. */
async function readUse(pid: number): Promise<Pick<Seen, 'cpuMs' | 'residentMiB'>> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
  // Ticks are hundredths of a second.
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, residentMiB: kilobytes / 1024 };
}

const codes = await compileCodes(VALUED);
const folder = await createTemporaryFolder('fullmatch-bench-');
const chain = await startReplayedChain({
  ...{ chainId: CHAIN_ID, plainBlocks, creationCode: codes.creationCode },
  ...{ runtimeCode: codes.runtimeCode, valueStarts: codes.places.flat() },
});
const config = `registry: { include: configured, defaults: false }
monitor: { gateways: [], swarmGateways: [] }
chains:
  ${CHAIN_ID}:
    name: Replayed chain
    local: true
    rpc: ['${chain.url}']
    monitor: { from: 2 }
`;
await writeFile(path.join(folder.path, 'fullmatch.yaml'), config);
const service = await startProgram({
  workingDirectory: folder.path,
  environment: { ...ALL_CHAINS, FULLMATCH_DATA_DIR: path.join(folder.path, 'data') },
});
const readJson = async <T>(url: string): Promise<T> => (await (await fetch(url)).json()) as T;
const look = async (): Promise<Seen> => {
  const [state, counts, use] = await Promise.all([
    readJson<ChainState>(`${service.apiUrl}/v1/chains/${CHAIN_ID}/monitor`),
    readJson<Record<string, { full_match: number }>>(`${service.repositoryUrl}/stats.json`),
    readUse(service.child.pid ?? 0),
  ]);
  const verified = counts[CHAIN_ID]?.full_match ?? 0;
  return { cursor: state.cursor?.block ?? -1, verified, ...use };
};
const until = async (fits: (seen: Seen) => boolean, pauseMs: number): Promise<Seen> => {
  for (;;) {
    const seen = await look();
    if (fits(seen)) return seen;
    await wait(pauseMs);
  }
};

/** Verifies the contract whose clones follow. */
async function verifySeed(): Promise<void> {
  const answer = await fetch(`${service.apiUrl}/v2/verify/${CHAIN_ID}/${SEED_ADDRESS}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ stdJsonInput: VALUED.input, compilerVersion: NEWEST },
      contractIdentifier: `${VALUED.target.path}:${VALUED.target.name}`,
    }),
  });
  if (answer.status !== 202) throw new Error(await answer.text());
  await until(({ verified }) => verified === 1, 100);
}

/** Blocks without creations: the cost of following. */
async function measureFollowing(): Promise<object> {
  const from = await look();
  const begun = performance.now();
  chain.setHead(plainBlocks);
  const to = await until(({ cursor }) => cursor >= plainBlocks, 100);
  const blocks = to.cursor - Math.max(1, from.cursor);
  const each = (performance.now() - begun) / blocks;
  const bare = await readBare(chain.url, 2, plainBlocks);
  return {
    ...{ blocks, 'ms a block': each.toFixed(2), 'bare client, ms': bare.toFixed(2) },
    'overhead, ms': (each - bare).toFixed(2),
    'CPU ms a block': ((to.cpuMs - from.cpuMs) / blocks).toFixed(2),
  };
}

/** Backlog of blocks with creations: the rate of verified clones, and the memory during that. */
async function measureCatchingUp(): Promise<object> {
  const from = await look();
  const begun = performance.now();
  const last = plainBlocks + fullBlocks;
  chain.setHead(last);
  const wanted = from.verified + fullBlocks * CLONES;
  const resident: number[] = [];
  for (let part = 1; part <= SAMPLES; part += 1) {
    const reached = from.verified + ((wanted - from.verified) * part) / SAMPLES;
    resident.push((await until(({ verified }) => verified >= reached, 250)).residentMiB);
  }
  const seconds = (performance.now() - begun) / 1000;
  const to = await look();
  return {
    ...{ creations: fullBlocks * CREATIONS, clones: fullBlocks * CLONES },
    'verified a second': Math.round((fullBlocks * CLONES) / seconds),
    'CPU ms each': ((to.cpuMs - from.cpuMs) / (fullBlocks * CLONES)).toFixed(2),
    'resident MiB, five times': resident.map((each) => each.toFixed(0)).join(' '),
  };
}

/** One block per second: the delay from a block until its last clone is counted. */
async function measurePace(): Promise<object> {
  const from = await look();
  const first = plainBlocks + fullBlocks + 1;
  const lags: number[] = [];
  let counted = 0;
  const begun = performance.now();
  const bornAt = (block: number): number => begun + block * PACE_MS;
  const watch = async (): Promise<void> => {
    while (counted < paceSeconds) {
      const { verified } = await look();
      while (counted < paceSeconds && verified >= from.verified + (counted + 1) * CLONES) {
        lags.push(performance.now() - bornAt(counted));
        counted += 1;
      }
      await wait(50);
    }
  };
  const watching = watch();
  for (let block = 0; block < paceSeconds; block += 1) {
    await wait(Math.max(0, bornAt(block) - performance.now()));
    chain.setHead(first + block);
  }
  await watching;
  const to = await look();
  return {
    ...{ blocks: paceSeconds, 'creations a minute': (CREATIONS * 60_000) / PACE_MS },
    'block to stats.json, median ms': Math.round(median(lags)),
    'longest ms': Math.round(Math.max(...lags)),
    'CPU in a hundred': ((to.cpuMs - from.cpuMs) / (10 * paceSeconds)).toFixed(0),
    'resident MiB': to.residentMiB.toFixed(0),
  };
}

try {
  console.log(`load before: ${loadavg()[0]?.toFixed(1) ?? '?'}`);
  await verifySeed();
  console.table([await measureFollowing()]);
  console.table([await measureCatchingUp()]);
  console.table([await measurePace()]);
  console.log(`load after: ${loadavg()[0]?.toFixed(1) ?? '?'}`);
} finally {
  service.child.kill('SIGTERM');
  await service.ended;
  agent.destroy();
  chain.stop();
  await folder.remove();
}
