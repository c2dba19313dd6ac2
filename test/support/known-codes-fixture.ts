import { loadConfig } from '../../src/config/load-config.ts';
import { openCore } from '../../src/core/open-core.ts';
import { type Hex } from '../../src/lib/hex.ts';
import { silentLogger } from '../../src/log.ts';
import { advanceFeed } from './advance-feed.ts';
import { indexStoredCodes } from '../../src/repository/repository.ts';
import { reindex } from '../../src/verification/known-codes/reindex.ts';
import { KnownCodeCache } from '../../src/verification/known-codes/known-code-cache.ts';
import {
  type KnownCodeParts,
  type KnownDeployment,
  verifyKnownCode,
} from '../../src/verification/known-codes/verify-known-code.ts';
import { readVerificationTask } from '../../src/verification/compilation/read-compilation-task.ts';
import { verifyContract, type VerificationResult } from '../../src/verification/verify-contract.ts';
import { verifyAndSave } from '../../src/verification/recheck/verify-and-save.ts';
import { startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './anvil.ts';
import { configSources } from './config-sources.ts';
import { recordedCompilers } from './recorded-compilers.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { type TestInput } from './developer.ts';

/** A second chain, on its own anvil. */
export const OTHER_CHAIN_ID = 424243;
const SOURCE_BYTES = 5_000_000;

/** Sources and the contract to verify. */
export interface Submission {
  readonly input: TestInput;
  /** `path:Name` */
  readonly contract: string;
  readonly version?: string;
}

/** A verification set-up with two chains and the index of known bytecode. */
export interface KnownCodesFixture {
  readonly anvil: Anvil;
  readonly otherAnvil: Anvil;
  readonly testDatabase: TestDatabase;
  readonly parts: KnownCodeParts;
  /** Number of compiler calls so far. */
  readonly compilations: () => number;
  /** Verifies with sources, without storing anything. */
  readonly judge: (
    address: Hex,
    submission: Submission,
    chainId?: number,
  ) => Promise<VerificationResult>;
  /** Verifies with sources and stores the match. */
  readonly verify: (address: Hex, submission: Submission, chainId?: number) => Promise<void>;
  /** Follows the feed, indexes stored contracts, and compiles stored sources for their other contracts. */
  readonly index: () => Promise<void>;
  /** Verifies with stored sources. */
  readonly find: (
    address: Hex,
    more?: Partial<KnownDeployment>,
    parts?: KnownCodeParts,
  ) => Promise<VerificationResult | undefined>;
  readonly close: () => Promise<void>;
}

/** Starts the fixture. */
export async function startKnownCodes(): Promise<KnownCodesFixture> {
  const [testDatabase, anvil, otherAnvil] = await Promise.all([
    createTestDatabase(),
    startAnvil({ chainId: VERIFIED_CHAIN_ID }),
    startAnvil({ chainId: OTHER_CHAIN_ID }),
  ]);
  const chains = [anvil, otherAnvil].map(
    ({ chainId, url }) => `  ${chainId}: { name: Test ${chainId}, local: true, rpc: ["${url}"] }\n`,
  );
  const yaml = `registry: { include: configured, defaults: false }\nchains:\n${chains.join('')}`;
  const loaded = loadConfig(
    configSources({
      environment: { DATABASE_URL: testDatabase.url },
      texts: { 'fullmatch.yaml': yaml },
    }),
  );
  let compilations = 0;
  const core = openCore(loaded, {
    registry: 'configured',
    log: async () => silentLogger,
    compilersOver: (real) => {
      const recorded = recordedCompilers(real);
      return {
        ...recorded,
        compileToBytes: (request) => {
          compilations += 1;
          return recorded.compileToBytes(request);
        },
      };
    },
  });
  const { database } = testDatabase;
  const compilers = await core.compilers();
  const parts = { ...(await core.verificationParts()), database, cache: new KnownCodeCache() };
  const { signal } = new AbortController();
  const judge: KnownCodesFixture['judge'] = (address, submission, chainId = VERIFIED_CHAIN_ID) =>
    verifyContract(
      parts,
      readVerificationTask(
        {
          chainId,
          address,
          compilation: {
            kind: 'standard_json',
            input: { ...submission.input, language: 'Solidity' },
            compilerVersion: submission.version ?? '0.8.37',
            contractIdentifier: submission.contract,
          },
        },
        SOURCE_BYTES,
      ),
      signal,
    );
  return {
    ...{ anvil, otherAnvil, testDatabase, parts, judge },
    compilations: () => compilations,
    verify: async (address, submission, chainId) => {
      await verifyAndSave(database, () => judge(address, submission, chainId), silentLogger);
    },
    index: async () => {
      await advanceFeed(database);
      while ((await indexStoredCodes(database)) > 0);
      const others = reindex({ ...parts, compilers }, { workers: 1 }, signal);
      while ((await others.next()).done !== true);
    },
    find: (address, more = {}, used = parts) =>
      verifyKnownCode(used, { chainId: VERIFIED_CHAIN_ID, address, ...more }, signal),
    close: async () => {
      await core.close();
      await Promise.all([anvil.stop(), otherAnvil.stop()]);
      await testDatabase.drop();
    },
  };
}
