import { afterEach, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from './processes/compiler-limits.ts';
import { probeIsolation } from './processes/isolation.ts';
import { type SoljsonProcess } from './processes/soljson-process.ts';
import { WarmPool } from './warm-pool.ts';

const pools: WarmPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

/** A stub process that reports its memory when the test decides. */
class Process {
  usable = true;
  readonly #memory: Promise<number>;

  constructor(memory: number | Promise<number>) {
    this.#memory = Promise.resolve(memory);
  }

  residentBytes(): Promise<number> {
    return this.#memory;
  }

  end(): Promise<void> {
    this.usable = false;
    return Promise.resolve();
  }
}

async function openPool(idleBytes: number): Promise<(process: Process) => Promise<void>> {
  const isolation = await probeIsolation();
  const options = { idleBytes, isolation, limits: DEFAULT_LIMITS, idleTimeoutMs: 60_000 };
  const pool = new WarmPool({ ...options, preparations: 0 });
  pools.push(pool);
  return (process) => pool.release(process as unknown as SoljsonProcess);
}

test('keeps track of every running process, even while memory readings are pending', async () => {
  const release = await openPool(250);
  let tell: (bytes: number) => void = () => undefined;
  const first = new Process(100);
  const slow = new Process(new Promise<number>((resolve) => (tell = resolve)));
  await release(first);
  const releasing = release(slow);
  await release(new Process(200));
  expect(first.usable).toBe(false);
  tell(50);
  await releasing;
  expect(pools[0]?.describe()).toEqual({ idle: 2, busy: 0, idleBytes: 250 });
});

test('ends a process whose memory is being read when the pool closes', async () => {
  const release = await openPool(250);
  let tell: (bytes: number) => void = () => undefined;
  const process = new Process(new Promise<number>((resolve) => (tell = resolve)));
  const releasing = release(process);
  const closing = pools[0]?.close();
  tell(50);
  await Promise.all([releasing, closing]);
  expect(process.usable).toBe(false);
  expect(pools[0]?.describe()).toMatchObject({ idle: 0 });
});
