import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import {
  replayTransformations,
  type Transformation,
  type TransformationValues,
} from '../../src/bytecode/transformation.ts';
import { type Hex } from '../../src/lib/hex.ts';
import { sql, type Database } from '../../src/store/database.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './anvil.ts';
import { bootService, type BootedService, type BootOptions } from './booted-service.ts';
import { compileSamples, type CompiledSample } from './bytecode/compiled-suite.ts';
import { constructorArguments, linkCode } from './bytecode/simulated-deployment.ts';
import { suiteSource } from './bytecode/suite-source.ts';
import { type SolcVersion } from './compile-in-child.ts';
import {
  OLD_SOLC_VERSIONS,
  SOLC_VERSIONS as LONG_VERSIONS,
  solcPackageOf,
} from './solc-packages.ts';
import { createTemporaryFolder } from './temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { verifyOverV2, type WireJob } from './verification-client.ts';

/** A bytecode in `GET /v2/contract/…?fields=all`. */
interface WireCode {
  readonly onchainBytecode: string | null;
  readonly recompiledBytecode: string | null;
  readonly cborAuxdata: Readonly<Record<string, unknown>> | null;
  readonly transformations: readonly Transformation[] | null;
  readonly transformationValues: TransformationValues | null;
}

/** `GET /v2/contract/…?fields=all`, as far as tests read it. */
export interface WireContract {
  readonly match: string | null;
  readonly runtimeMatch: string | null;
  readonly creationMatch: string | null;
  readonly creationBytecode: WireCode;
  readonly runtimeBytecode: WireCode;
  readonly deployment: Readonly<Record<string, string | null>>;
  readonly compilation: Readonly<Record<string, unknown>>;
  readonly sources: Readonly<Record<string, unknown>>;
}

/** The real service next to a real node, with every compiler of the tests in its folder. */
export interface VerifyingService {
  readonly anvil: Anvil;
  readonly service: BootedService;
  readonly testDatabase: TestDatabase;
  /** Submits over API v2 and waits for the job's end. */
  readonly verify: (address: string, body: object) => Promise<WireJob>;
  /** The whole document of a contract. */
  readonly contractAt: (address: string) => Promise<WireContract>;
  /** The text of stats.json. */
  readonly statistics: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Starts the service with its own chain. `more` is YAML after the chain; `compilers` must contain `folder`. */
export async function startVerifyingService(
  more: (folder: string) => string = (folder) => `compilers: { folder: ${folder} }\n`,
  { compilesAnew = false }: Pick<BootOptions, 'compilesAnew'> = {},
): Promise<VerifyingService> {
  const [testDatabase, anvil, folder] = await Promise.all([
    createTestDatabase(),
    startAnvil({ chainId: VERIFIED_CHAIN_ID }),
    createTemporaryFolder(),
  ]);
  for (const version of [...OLD_SOLC_VERSIONS, ...LONG_VERSIONS]) {
    const soljson = path.join(solcPackageOf(version), 'soljson.js');
    await symlink(soljson, path.join(folder.path, `soljson-v${version}.js`));
  }
  const service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: configOf(anvil, more(folder.path)),
    compilesAnew,
  });
  return {
    anvil,
    service,
    testDatabase,
    verify: (address, body) => verifyOverV2(service.apiUrl, address, body),
    contractAt: (address) => readContract(service, VERIFIED_CHAIN_ID, address),
    statistics: () => readSettledStatistics(service, testDatabase.database),
    close: async () => {
      await service.close();
      await anvil.stop();
      await folder.remove();
      await testDatabase.drop();
    },
  };
}

/** The whole document of a contract; the minimal one if it is not verified. */
export async function readContract(
  { apiUrl }: BootedService,
  chainId: number,
  address: string,
): Promise<WireContract> {
  const response = await fetch(`${apiUrl}/v2/contract/${chainId}/${address}?fields=all`);
  return (await response.json()) as WireContract;
}

/** The text of stats.json. */
export async function readStatistics({ repositoryUrl }: BootedService): Promise<string> {
  return (await fetch(`${repositoryUrl}/stats.json`)).text();
}

const COUNTED = sql(
  'test counted matches',
  `SELECT coalesce(sum(full_match), 0)::int AS full, coalesce(sum(partial_match), 0)::int AS partial
   FROM chain_counts`,
);

/** The text of stats.json once it equals the database's counts: a commit is published with a short delay. */
export async function readSettledStatistics(
  service: BootedService,
  database: Database,
): Promise<string> {
  const [row] = await database.query<{ full: number; partial: number }>(COUNTED);
  for (;;) {
    const text = await readStatistics(service);
    const counts = Object.values(
      JSON.parse(text) as Record<string, { full_match: number; partial_match: number }>,
    );
    const full = counts.reduce((sum, each) => sum + each.full_match, 0);
    const partial = counts.reduce((sum, each) => sum + each.partial_match, 0);
    if (full === row?.full && partial === row.partial) return text;
    await wait(20);
  }
}

const suites = new Map<string, Promise<readonly CompiledSample[]>>();

/**
 * A contract of the suite compiled by its developer with only its dependencies: a version, optimized, or with
 * the given settings.
 * @param within the contract whose source contains it: a created contract is part of its creator's source
 */
export async function suiteContract(
  version: SolcVersion,
  name: string,
  more: Readonly<Record<string, unknown>> = {},
  within = name,
): Promise<CompiledSample> {
  const input = {
    language: 'Solidity' as const,
    sources: { 'contracts/Suite.sol': { content: suiteSource(version, within) } },
    settings: { optimizer: { enabled: true, runs: 200 }, ...more },
  };
  const key = `${version} ${within} ${JSON.stringify(more)}`;
  const compiled = suites.get(key) ?? compileSamples(version, { optimized: input });
  suites.set(key, compiled);
  const sample = (await compiled).find((each) => each.name === name);
  if (sample === undefined) throw new Error(`solc ${version} gave no contract ${name}`);
  return sample;
}

/** Deploys a contract of the suite with a plain transaction, linked and with constructor arguments. */
export function deploySample(
  anvil: Anvil,
  sample: CompiledSample,
  libraries: Readonly<Record<string, string>> = {},
): Promise<{ readonly address: Hex; readonly transactionHash: Hex }> {
  return deploy(
    anvil,
    linkCode(sample, 'creation', libraries).toString('hex'),
    constructorArguments(sample).toString('hex'),
  );
}

/** The body of POST /v2/verify for a contract of the suite; `edit` changes its sources. */
export function bodyOfSample(
  { version, path: file, name, input }: CompiledSample,
  more: object = {},
  edit: (content: string) => string = (content) => content,
): object {
  const sources = Object.fromEntries(
    Object.entries(input.sources).map(([key, { content }]) => [key, { content: edit(content) }]),
  );
  return {
    stdJsonInput: { ...input, sources },
    compilerVersion: version,
    contractIdentifier: `${file}:${name}`,
    ...more,
  };
}

/** The reasons of a bytecode's transformations, each once, in alphabetical order. */
export function reasonsOf({ transformations }: WireCode): readonly string[] {
  return [...new Set((transformations ?? []).map(({ reason }) => reason))].sort();
}

function expectReplay(code: WireCode, onChain: string): void {
  const { recompiledBytecode, transformations, transformationValues: values } = code;
  expect(code.onchainBytecode).toBe(onChain);
  const recompiled = Buffer.from((recompiledBytecode ?? '0x').slice(2), 'hex');
  const replayed = replayTransformations(recompiled, transformations ?? [], values ?? {});
  expect(`0x${replayed.toString('hex')}`).toBe(onChain);
}

/**
 * Expects that the published evidence explains the on-chain bytecode: the recompiled bytecode with the
 * published transformations equals the node's, byte for byte.
 * @param creationCode input of the transaction, if the creation is known.
 */
export async function expectEvidence(
  { anvil, contractAt }: VerifyingService,
  address: string,
  creationCode?: string,
): Promise<WireContract> {
  const contract = await contractAt(address);
  const onChain = await anvil.request<string>('eth_getCode', [address, 'latest']);
  expectReplay(contract.runtimeBytecode, onChain);
  if (creationCode !== undefined) expectReplay(contract.creationBytecode, creationCode);
  return contract;
}

/** Creation bytecode of a plain transaction. */
export async function inputOfTransaction(anvil: Anvil, hash: string): Promise<string> {
  return (await anvil.request<{ input: string }>('eth_getTransactionByHash', [hash])).input;
}
