import { rm, symlink, writeFile } from 'node:fs/promises';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { runProgram, startProgram, type ProgramRun } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { solcPackageOf } from './support/solc-packages.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import {
  apiPathsOf,
  unpackFixture,
  type FixtureContract,
  type FixtureManifest,
} from './support/upgrade-fixture.ts';
import { pollJob, type WireJob } from './support/verification-client.ts';

const START_TIMEOUT_MS = 180_000;
const NEWEST_LONG = '0.8.37+commit.f401782d';
/** Maximum size of bytecode evidence in a failed job with bytecode of 300,000 bytes: windows around the difference. */
const MAX_JOB_CHARACTERS = 300_000;

const UNTOUCHED = ['honest', 'honest_elsewhere', 'honest_partial', 'upgraded'];
const LISTED_ONLY: Readonly<Record<string, readonly string[]>> = {
  planted_source: ['contracts/Token.sol'],
  planting_instance: ['contracts/Token.sol'],
  unlisted_source: ['contracts/Registry.sol'],
};

interface Manifest extends FixtureManifest {
  readonly withdrawn: { readonly address: Hex };
  readonly queued: { readonly address: Hex; readonly code: Hex };
}

/** `GET /v2/contract/…?fields=all`, as far as it is compared. */
interface Shown {
  readonly match: string | null;
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly stdJsonInput: {
    readonly sources: Readonly<Record<string, unknown>>;
    readonly settings: Readonly<Record<string, unknown>>;
  };
  readonly compilation: {
    readonly fullyQualifiedName: string;
    readonly compilerSettings: Readonly<Record<string, unknown>>;
  };
}

interface ContractEvent {
  readonly kind: string;
  readonly reason?: string | null;
}

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let anvil: Anvil;
let manifest: Manifest;
let program: Awaited<ReturnType<typeof startProgram>>;
let recounted: ProgramRun;

function contractOf(role: string): FixtureContract {
  const found = manifest.contracts.find((contract) => contract.role === role);
  if (found === undefined) throw new Error(`the fixture has no ${role}`);
  return found;
}

const shownBefore = ({ answers, chainId, address }: FixtureContract): Shown =>
  JSON.parse(answers[apiPathsOf(chainId, address)[0] ?? ''] ?? '') as Shown;

async function shownNow({ chainId, address }: FixtureContract): Promise<Shown> {
  const [first = ''] = apiPathsOf(chainId, address);
  return (await (await fetch(program.apiUrl + first)).json()) as Shown;
}

async function eventsOf({ chainId, address }: FixtureContract): Promise<readonly ContractEvent[]> {
  const response = await fetch(`${program.apiUrl}/v1/contracts/${chainId}/${address}/events`);
  return ((await response.json()) as { results: ContractEvent[] }).results;
}

async function treeOf(contract: FixtureContract): Promise<readonly string[]> {
  const { chainId, address } = contract;
  const match = shownBefore(contract).match === 'exact_match' ? 'full_match' : 'partial_match';
  const url = `${program.repositoryUrl}/contracts/${match}/${chainId}/${address}`;
  const { files } = (await (await fetch(url)).json()) as { files: { path: string }[] };
  return files.map((file) => file.path).sort();
}

describeWith([ANVIL], 'data of version 0.1.0', () => {
  beforeAll(async () => {
    folder = await createTemporaryFolder();
    [anvil, manifest] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      unpackFixture(folder.path) as Promise<Manifest>,
    ]);
    // The chain as it was: reading it again finds the same bytecode.
    const codes = [
      ...manifest.contracts.filter(({ chainId }) => chainId === VERIFIED_CHAIN_ID),
      manifest.queued,
    ];
    for (const { address, code } of codes) await anvil.request('anvil_setCode', [address, code]);
    const compilers = path.join(folder.path, 'compilers');
    await mkdir(compilers);
    await symlink(
      path.join(solcPackageOf(NEWEST_LONG), 'soljson.js'),
      path.join(compilers, `soljson-v${NEWEST_LONG}.js`),
    );
    const config = path.join(folder.path, 'fullmatch.yaml');
    const more = `dataDir: ${path.join(folder.path, 'data')}\ncompilers: { folder: ${compilers} }\n`;
    await writeFile(config, configOf(anvil, more));
    const environment = { FULLMATCH_CONFIG: config };
    program = await startProgram({ environment });
    await pollJob(program.apiUrl, manifest.jobs['queued'] ?? '').catch(() => undefined);
    recounted = runProgram(['recount', '--json'], { environment });
    await recounted.ended;
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    program.child.kill('SIGTERM');
    await program.ended;
    await anvil.stop();
    await folder.remove();
    await rm(folder.path, { recursive: true, force: true });
  });

  test('counts agree with the events and the rows', async () => {
    expect(await recounted.ended).toBe(0);
    expect(JSON.parse(recounted.lines.join('\n'))).toMatchObject({ differences: [] });
  });

  test.each(UNTOUCHED)('%s shows the same bytes as before', async (role) => {
    const contract = contractOf(role);
    const [before, now] = [shownBefore(contract), await shownNow(contract)];
    expect(now).toMatchObject({
      match: before.match,
      sources: before.sources,
      stdJsonInput: before.stdJsonInput,
      compilation: before.compilation,
    });
    expect(Object.keys(now.sources)).toEqual(Object.keys(before.sources));
    for (const [url, text] of Object.entries(contract.files)) {
      expect(await (await fetch(program.repositoryUrl + url)).text(), url).toBe(text);
    }
  });

  test.each(UNTOUCHED)('%s has no new event', async (role) => {
    const kinds = (await eventsOf(contractOf(role))).map(({ kind }) => kind);
    expect(kinds).toEqual(role === 'upgraded' ? ['upgraded', 'stored'] : ['stored']);
  });

  test.each(Object.entries(LISTED_ONLY))(
    '%s keeps only the sources in its metadata, recorded by an event',
    async (role, paths) => {
      const contract = contractOf(role);
      expect(Object.keys(shownBefore(contract).sources)).not.toEqual(paths);
      const now = await shownNow(contract);
      expect(now.match).toBe('exact_match');
      expect(Object.keys(now.sources)).toEqual(paths);
      expect(Object.keys(now.stdJsonInput.sources)).toEqual(paths);
      const tree = await treeOf(contract);
      expect(tree.filter((file) => file.startsWith('sources/'))).toEqual(
        paths.map((file) => `sources/${file}`),
      );
      const gone = Object.keys(contract.files).find((url) => /AUDIT|unlisted/.test(url));
      expect((await fetch(program.repositoryUrl + (gone ?? ''))).status).toBe(404);
      const [newest, ...older] = await eventsOf(contract);
      expect(older.map(({ kind }) => kind)).toContain('stored');
      expect(newest?.reason).toBeTruthy();
    },
  );

  test('settings unknown to any compiler are removed', async () => {
    const contract = contractOf('planted_settings');
    expect(shownBefore(contract).compilation.compilerSettings).toHaveProperty('auditedBy');
    const now = await shownNow(contract);
    expect(now.match).toBe('exact_match');
    expect(now.compilation.compilerSettings).not.toHaveProperty('auditedBy');
    expect(now.stdJsonInput.settings).not.toHaveProperty('auditedBy');
  });

  test.each(['yul_claimed', 'yul_named_before'])(
    '%s shows only the source that contains its name',
    async (role) => {
      const { compilation, sources } = await shownNow(contractOf(role));
      const { fullyQualifiedName } = compilation;
      const file = fullyQualifiedName.slice(0, fullyQualifiedName.lastIndexOf(':'));
      expect(Object.keys(sources)).toEqual([file]);
      expect(sources[file]?.content).toContain(fullyQualifiedName.slice(file.length + 1));
    },
  );

  test('a creation-only match with differing runtime bytecode is withdrawn with a reason', async () => {
    const contract = contractOf('creation_only');
    expect(shownBefore(contract).match).toBe('exact_match');
    expect((await shownNow(contract)).match).toBeNull();
    const [newest] = await eventsOf(contract);
    expect(newest).toMatchObject({ kind: 'withdrawn' });
    expect(newest?.reason).toBeTruthy();
  });

  test('stats.json counts the remaining matches', async () => {
    const counts = (await (
      await fetch(`${program.repositoryUrl}/stats.json`)
    ).json()) as FixtureManifest['statistics'];
    const before = manifest.statistics;
    const own = before[VERIFIED_CHAIN_ID];
    expect(counts).toMatchObject({
      ...before,
      [VERIFIED_CHAIN_ID]: {
        // One less through the withdrawal, one more through the queued job.
        full_match: own?.full_match,
        partial_match: own?.partial_match,
      },
    });
    expect(Object.keys(counts)).toEqual(Object.keys(before));
  });

  test('a queued job is completed', async () => {
    const job = await pollJob(program.apiUrl, manifest.jobs['queued'] ?? '');
    expect(job.error).toBeUndefined();
    expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match' });
  });

  test('a failed job keeps its error code and drops large bytecode', async () => {
    for (const role of ['failed_small', 'failed_large']) {
      const response = await fetch(`${program.apiUrl}/v2/verify/${manifest.jobs[role] ?? ''}`);
      const text = await response.text();
      expect((JSON.parse(text) as WireJob).error?.customCode).toBe('bytecode_length_mismatch');
      expect(text.length, role).toBeLessThan(MAX_JOB_CHARACTERS);
    }
  });

  test('a withdrawn contract stays withdrawn', async () => {
    const { address } = manifest.withdrawn;
    const response = await fetch(`${program.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}`);
    expect(((await response.json()) as Shown).match).toBeNull();
  });
});
