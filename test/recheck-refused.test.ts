// Matches that an earlier version stored and the current rules reject.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesToHex, hexToBytes, type Hex } from '../src/lib/hex.ts';
import { readAlternative } from '../src/repository/matches/read-alternatives.ts';
import { readContractEvents } from '../src/repository/matches/read-contract-events.ts';
import { readEvidence } from '../src/repository/evidence/read-evidence.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { type Origin, type Transformed } from '../src/repository/matches/verified-contract.ts';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { runInProcess } from './support/run-cli.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const UNPROTECTED: Hex = `0x73${'00'.repeat(20)}301460806040`;
const PROTECTED: Hex = `0x73${'11'.repeat(20)}301460806040`;
const verbatim = (bytes: string): string =>
  `object "P" { code {} object "R" { code { verbatim_0i_0o(hex"${bytes}") } } }`;
const ofLibrary = (address: string): Transformed => ({
  transformations: [],
  values: { immutables: { library_deploy_address: `0x${address.repeat(32)}` } },
});

interface Stored {
  readonly code: Hex;
  readonly origin?: Origin;
  readonly yul?: string;
  readonly runtime?: Transformed;
}

describeWith([ANVIL], 'a match from an earlier version', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let made = 0;

  beforeAll(async () => {
    [anvil, testDatabase, folder] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTestDatabase(),
      createTemporaryFolder(),
    ]);
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), configOf(anvil));
  });
  afterAll(async () => {
    await folder.remove();
    await anvil.stop();
    await testDatabase.drop();
  });

  const recheckAt = async (address: Hex): Promise<string | undefined> => {
    const { stdout } = await runInProcess(
      ['recheck', String(VERIFIED_CHAIN_ID), address, '--json'],
      { environment: { DATABASE_URL: testDatabase.url }, workingDirectory: folder.path },
    );
    const [checked] = JSON.parse(stdout) as { outcome: string }[];
    return checked?.outcome;
  };

  /** Stores a match as an earlier version accepted it; returns its address and the outcome of a recheck. */
  const recheck = async ({ code, origin = 'verified', yul, runtime }: Stored) => {
    made += 1;
    const address = sampleAddress(0xabc000 + made);
    await anvil.request('anvil_setCode', [address, code]);
    // This bytecode contains no metadata hash, so a claim of a full match would be disproved.
    const runtimeMatch = origin === 'imported' ? 'partial' : 'full';
    const sample = sampleContract(VERIFIED_CHAIN_ID, address, { runtimeMatch });
    const runtimeCode = hexToBytes(code);
    await saveMatch(testDatabase.database, {
      ...sample,
      origin,
      deployment: { runtimeCode },
      runtime: runtime ?? { transformations: [], values: {} },
      compilation: {
        ...sample.compilation,
        metadata: JSON.stringify({ variant: bytesToHex(Buffer.from([made])) }),
        runtimeCode,
        ...(yul !== undefined && {
          language: 'yul',
          sources: [{ path: 'P.yul', content: yul }],
        }),
      },
    });
    const outcome = await recheckAt(address);
    const events = await readContractEvents(testDatabase.database, VERIFIED_CHAIN_ID, address);
    return { outcome, kind: events[0]?.kind, reason: events[0]?.reason };
  };

  test.each<[string, string, Stored]>([
    ['a library with zeros as its own address', 'call_protection_missing', { code: UNPROTECTED }],
    [
      'a library whose immutable own address is zero',
      'call_protection_missing',
      { code: '0x6001', runtime: ofLibrary('00') },
    ],
    [
      'a Yul program that jumps with literal bytecode',
      'verbatim_not_allowed',
      { code: '0x6002', yul: verbatim('56') },
    ],
  ])('is withdrawn by a recheck: %s', async (_what, reason, stored) => {
    expect(await recheck(stored)).toEqual({ outcome: reason, kind: 'withdrawn', reason });
  });

  test('stays if only its alternative text is rejected, and only that text is removed', async () => {
    const address = sampleAddress(0xabcfff);
    const code: Hex = '0x6005';
    await anvil.request('anvil_setCode', [address, code]);
    const { database } = testDatabase;
    const runtimeCode = hexToBytes(code);
    const store = (text: string) => {
      const sample = sampleContract(VERIFIED_CHAIN_ID, address, { runtimeMatch: 'partial' });
      return saveMatch(database, {
        ...sample,
        origin: 'verified',
        deployment: { runtimeCode },
        runtime: { transformations: [], values: {} },
        compilation: {
          ...sample.compilation,
          metadata: JSON.stringify({ text }),
          runtimeCode,
          language: 'yul',
          sources: [{ path: 'P.yul', content: text }],
        },
      });
    };
    await store(verbatim('5f50'));
    expect(await store(verbatim('56'))).toMatchObject({ keptBeside: true });
    expect(await store(verbatim('585050'))).toMatchObject({ keptBeside: true });
    await store(`// another text\n${verbatim('5f50')}`);
    const outcomes = [];
    for (let round = 0; round < 2; round += 1) outcomes.push(await recheckAt(address));
    expect(outcomes).toEqual(['alternative_refused', 'same']);
    const evidence = await readEvidence(database, VERIFIED_CHAIN_ID, address);
    const texts = [];
    for (const { matchId } of evidence?.alternatives ?? []) {
      const kept = await readAlternative(database, VERIFIED_CHAIN_ID, address, matchId);
      texts.push(kept?.sources.get('P.yul'));
    }
    expect(texts).toEqual([`// another text\n${verbatim('5f50')}`]);
  });

  test.each<[string, Stored]>([
    ['a library with its own address', { code: PROTECTED }],
    ['a library whose immutable is its address', { code: '0x6003', runtime: ofLibrary('11') }],
    ['a Yul program with an allowed instruction', { code: '0x6004', yul: verbatim('5f50') }],
    ['an imported library', { code: UNPROTECTED, origin: 'imported' }],
  ])('stays: %s', async (_what, stored) => {
    const { outcome, kind } = await recheck(stored);
    expect([outcome, kind]).toEqual(['same', 'stored']);
  });
});
