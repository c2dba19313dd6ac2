/** The compiler benchmark: `npx tsx bench/compilers.ts`. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createCompilers, type Compilers } from '../src/compilers/compilers.ts';
import { type CompilerSources } from '../src/compilers/sources/compiler-finder.ts';
import { listCompilers } from '../src/compilers/inspect-compilers.ts';
import { silentLogger } from '../src/log.ts';
import { type BenchmarkContract, ERC721_ENUMERABLE, GOVERNOR, SMALL } from './compiler-inputs.ts';
import { median } from './median.ts';
import { compileParsed } from '../test/support/compile-parsed.ts';

const MODULES = path.resolve(import.meta.dirname, '../node_modules');
const NEWEST = '0.8.37';
const WARM_ROUNDS = 9;
const COLD_ROUNDS = 3;
/** Pause between compilations, in which a process creates its next instance and releases memory. */
const PAUSE_MS = 700;

/** Figures of one version. Milliseconds and bytes. */
export interface VersionRow {
  readonly version: string;
  /** From a cold start: a new process with the compiler loaded. */
  readonly loadMs: number;
  readonly firstMs: number;
  readonly warmMs: number;
  readonly residentBytes: number;
}

/** Figures of one contract with the newest version. Milliseconds. */
export interface ContractRow {
  readonly contract: string;
  /** A fresh process that loads the npm package and compiles, like servers without a pool. */
  readonly packageColdMs: number;
  readonly coldMs: number;
  readonly warmMs: number;
  /** packageColdMs / warmMs, the median of the rounds. */
  readonly ratio: number;
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

async function open(sources: CompilerSources): Promise<Compilers> {
  return createCompilers({ sources }, silentLogger);
}

async function compile(
  compilers: Compilers,
  version: string,
  { input, target }: BenchmarkContract,
): Promise<number> {
  const { output, compileTimeMs } = await compileParsed(compilers, {
    language: 'solidity',
    version,
    input,
  });
  const code = output.contracts?.[target.path]?.[target.name]?.evm?.bytecode?.object ?? '';
  if (code === '')
    throw new Error(`${version} produced no bytecode: ${JSON.stringify(output.errors)}`);
  return compileTimeMs;
}

async function measureVersion(sources: CompilerSources, version: string): Promise<VersionRow> {
  const compilers = await open(sources);
  try {
    const started = performance.now();
    const firstMs = await compile(compilers, version, SMALL);
    const loadMs = performance.now() - started - firstMs;
    const warm: number[] = [];
    for (let round = 0; round < WARM_ROUNDS; round += 1) {
      await sleep(PAUSE_MS);
      warm.push(await time(() => compile(compilers, version, SMALL)));
    }
    const { idleBytes } = compilers.describe();
    return { version, loadMs, firstMs, warmMs: median(warm), residentBytes: idleBytes };
  } finally {
    await compilers.close();
  }
}

function compileByPackage({ input }: BenchmarkContract): Promise<void> {
  const script = `const solc = require(process.argv[1]);
    process.stdout.write(solc.compile(require('fs').readFileSync(0, 'utf8')));`;
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['-e', script, path.join(MODULES, 'solc')],
      { maxBuffer: 2 ** 26 },
      (error) => (error === null ? resolve() : reject(new Error(error.message.slice(0, 300)))),
    );
    child.stdin?.end(JSON.stringify(input));
  });
}

async function measureContract(
  sources: CompilerSources,
  contract: BenchmarkContract,
): Promise<ContractRow> {
  const packageCold: number[] = [];
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < COLD_ROUNDS; round += 1) {
    packageCold.push(await time(() => compileByPackage(contract)));
    const compilers = await open(sources);
    try {
      cold.push(await time(() => compile(compilers, NEWEST, contract)));
      for (let turn = 0; turn < WARM_ROUNDS / COLD_ROUNDS; turn += 1) {
        await sleep(PAUSE_MS);
        warm.push(await time(() => compile(compilers, NEWEST, contract)));
      }
    } finally {
      await compilers.close();
    }
  }
  const [packageColdMs, warmMs] = [median(packageCold), median(warm)];
  return {
    contract: contract.name,
    packageColdMs,
    coldMs: median(cold),
    warmMs,
    ratio: packageColdMs / warmMs,
  };
}

/**
 * Measures compilers: each installed version with a small contract, and three contracts with the newest
 * version, cold and warm.
 */
export async function runCompilerBenchmark(): Promise<{
  readonly versions: readonly VersionRow[];
  readonly contracts: readonly ContractRow[];
}> {
  const packages = readdirSync(MODULES)
    .filter((name) => /^solc(?:-|$)/.test(name))
    .map((name) => path.join(MODULES, name));
  const sources = { packages };
  const contracts: ContractRow[] = [];
  for (const contract of [SMALL, ERC721_ENUMERABLE, GOVERNOR]) {
    contracts.push(await measureContract(sources, contract));
  }
  printContracts(contracts);
  const versions: VersionRow[] = [];
  for (const { longVersion, file } of await listCompilers(sources)) {
    if (file !== undefined) versions.push(await measureVersion(sources, longVersion));
  }
  printVersions(versions);
  return { versions, contracts };
}

function printContracts(rows: readonly ContractRow[]): void {
  console.table(
    Object.fromEntries(
      rows.map(({ contract, packageColdMs, coldMs, warmMs, ratio }) => [
        contract,
        {
          'package cold ms': Math.round(packageColdMs),
          'cold ms': Math.round(coldMs),
          'warm ms': Number(warmMs.toFixed(1)),
          'package cold / warm': Number(ratio.toFixed(1)),
        },
      ]),
    ),
  );
}

function printVersions(rows: readonly VersionRow[]): void {
  console.table(
    Object.fromEntries(
      rows.map(({ version, loadMs, firstMs, warmMs, residentBytes }) => [
        version,
        {
          'load ms': Math.round(loadMs),
          'first ms': Math.round(firstMs),
          'warm ms': Number(warmMs.toFixed(1)),
          'resident MiB': Math.round(residentBytes / 2 ** 20),
        },
      ]),
    ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runCompilerBenchmark();
