// Compilers that are loaded before it is certain that they are needed.
import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCompilers, type Compilers } from '../src/compilers/compilers.ts';
import { silentLogger } from '../src/log.ts';
import { listCompilers } from './support/child-processes.ts';
import { SOLC_PACKAGES } from './support/solc-packages.ts';
import { compileParsed } from './support/compile-parsed.ts';

const WORKERS = 2;
const VERSIONS = ['0.8.37', '0.8.30', '0.8.24', '0.8.20'] as const;
const request = {
  language: 'solidity',
  version: VERSIONS[0],
  input: {
    language: 'Solidity',
    sources: { 'a.sol': { content: 'contract A {}' } },
    settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  },
};

let compilers: Compilers;
beforeEach(async () => {
  compilers = await createCompilers(
    { sources: { packages: SOLC_PACKAGES }, workers: WORKERS },
    silentLogger,
  );
});
afterEach(() => compilers.close());

const countProcesses = async (): Promise<number> => (await listCompilers()).length;
const soon = { timeout: 90_000 };

/** Waits until the files of all versions were found; preparation waits for nothing else before it starts a process. */
async function untilPrepared(): Promise<void> {
  for (const version of VERSIONS) await compilers.obtain({ ...request, version });
  await untilNextTurn();
}

test('compiles in the prepared process and keeps it', async () => {
  const giveUp = compilers.prepare(request);
  await expect.poll(countProcesses, soon).toBe(1);
  const [prepared] = await listCompilers();
  await compileParsed(compilers, request);
  giveUp();
  expect((await listCompilers()).map(({ pid }) => pid)).toEqual([prepared?.pid]);
  expect(compilers.describe()).toMatchObject({ idle: 1 });
});

test('ends a prepared process that no compilation used, even while it loads', async () => {
  compilers.prepare(request)();
  const giveUp = compilers.prepare(request);
  await expect.poll(countProcesses, soon).toBe(1);
  giveUp();
  await expect.poll(countProcesses, soon).toBe(0);
  expect(compilers.describe()).toMatchObject({ idle: 0 });
});

test('prepares no more processes than workers, and none besides a warm one', async () => {
  await compileParsed(compilers, request);
  for (let time = 0; time < 3; time += 1) compilers.prepare(request);
  for (const version of VERSIONS.slice(1)) compilers.prepare({ ...request, version });
  await expect.poll(countProcesses, soon).toBe(1 + WORKERS);
  await untilPrepared();
  expect(await countProcesses()).toBe(1 + WORKERS);
});

test('ends prepared processes on close and prepares none afterwards', async () => {
  compilers.prepare(request);
  await expect.poll(countProcesses, soon).toBe(1);
  await compilers.close();
  expect(await countProcesses()).toBe(0);
  compilers.prepare(request);
  await untilPrepared();
  expect(await countProcesses()).toBe(0);
});
