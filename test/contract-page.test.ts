// The contract page as the service renders it: partial data and deceptive content.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCheckedApiApp } from './support/wire/checked-answers.ts';
import { FullmatchError } from '../src/errors.ts';
import { type HttpDependencies } from '../src/http/http-dependencies.ts';
import { createContractLists } from '../src/repository/lists/contract-lists.ts';
import { createContractReader } from '../src/repository/matches/contract-reader.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { type VerifiedContract } from '../src/repository/matches/verified-contract.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { fixtureDependencies } from './support/http-fixture.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const PLAIN = sampleAddress(1);
const DECEIVING = sampleAddress(2);
const LARGE = sampleAddress(3);
const ABSENT = sampleAddress(4);
const WITHDRAWN = sampleAddress(5);
const HIDDEN_RUN = sampleAddress(6);
const HIDDEN_MIX = sampleAddress(7);
const LONG_PATHS = sampleAddress(8);
const WIDE_ABI = sampleAddress(9);
const CLAIMED = sampleAddress(10);
const MANY_FILES = sampleAddress(11);

/** Nested tuples: a type of a few words in the source that expands to a very long one. */
const WIDE = {
  type: 'tuple',
  components: Array.from({ length: 30 }, () => ({
    type: 'tuple',
    components: Array.from({ length: 30 }, () => ({ type: 'uint256', name: 'a' })),
  })),
};

let testDatabase: TestDatabase;
let real: Pick<HttpDependencies, 'contracts' | 'contractLists'>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  real = {
    contracts: createContractReader(database),
    contractLists: createContractLists(database),
  };
  const claimed = contractOf(
    CLAIMED,
    'Token',
    [{ path: 'a/Token.sol', content: '// SPDX-License-Identifier: GPL-3.0\ncontract Token {}' }],
    [{ type: 'constructor', inputs: [{ type: 'uint8', name: 'decimals' }] }],
  );
  const values = { constructorArguments: `0x${'12'.padStart(64, '0')}` };
  await saveMatches(database, [
    { ...claimed, runtimeMatch: 'partial', creation: { transformations: [], values } },
    contractOf(WITHDRAWN, 'Token', [{ path: 'a/Token.sol', content: 'contract Token {}' }]),
    contractOf(PLAIN, 'Token', [{ path: 'a/Token.sol', content: 'contract Token {}' }]),
    contractOf(
      DECEIVING,
      'To\u200bken',
      [{ path: 'a/\u202eToken.sol', content: 'contract Token {}' }],
      [{ type: 'function', name: 'ow\u2066ner', inputs: [] }],
    ),
    contractOf(HIDDEN_RUN, 'A', [
      { path: 'a.sol', content: `// ${'\u200b'.repeat(250_000)}\ncontract A {}` },
    ]),
    contractOf(HIDDEN_MIX, 'A', [
      { path: 'a.sol', content: `// ${'\u200b\u200c'.repeat(100_000)}\ncontract A {}` },
    ]),
    contractOf(
      LONG_PATHS,
      'A',
      Array.from({ length: 200 }, (_, index) => ({
        path: `${'\u200b\u200c'.repeat(1_300)}/${index}.sol`,
        content: `contract A${index} {}`,
      })),
    ),
    contractOf(
      WIDE_ABI,
      'A',
      [{ path: 'a.sol', content: 'contract A {}' }],
      Array.from({ length: 12 }, (_, index) => ({
        type: 'error',
        name: `E${index}`,
        inputs: [WIDE],
      })),
    ),
    contractOf(
      MANY_FILES,
      'File0',
      Array.from({ length: 1_250 }, (_, index) => ({
        path: `File${String(index).padStart(4, '0')}.sol`,
        content: `contract B${index} {}`,
      })),
    ),
    contractOf(
      LARGE,
      'File0',
      Array.from({ length: 1000 }, (_, index) => ({
        path: `${'deep/'.repeat(index % 30)}File${index}.sol`,
        content:
          index === 0 ? `a // ${'line '.repeat(10)}\n`.repeat(20_000) : `contract A${index} {}`,
      })),
    ),
  ]);
});
afterAll(() => testDatabase.drop());

function contractOf(
  address: `0x${string}`,
  name: string,
  sources: VerifiedContract['compilation']['sources'],
  abi: readonly object[] = [],
): VerifiedContract {
  const sample = sampleContract(1, address, { runtimeMatch: 'full' });
  return {
    ...sample,
    compilation: {
      ...sample.compilation,
      name,
      fullyQualifiedName: `${sources[0]?.path ?? ''}:${name}`,
      metadata: JSON.stringify({ address }),
      artifacts: { abi },
      sources,
    },
  };
}

const fail = (): never => {
  throw new FullmatchError('database_unreachable', 'The database does not answer.');
};

/** Returns the HTML page and its status. */
async function read(
  path: string,
  overrides: Partial<HttpDependencies> = {},
): Promise<{ status: number; page: string }> {
  const app = createCheckedApiApp(await fixtureDependencies({ ...real, ...overrides }));
  const response = await app.request(path);
  const [page = ''] = (await response.text()).split('id="state"');
  return { status: response.status, page };
}

const marksOf = (page: string): number => page.split('class="hidden-character"').length - 1;

describe('the contract page', () => {
  test('keeps the verdict and the sources when the rest cannot be read', async () => {
    const broken = {
      contracts: { ...real.contracts, readEvidence: fail },
      contractLists: { ...real.contractLists, findSameCode: fail },
    };
    const { status, page } = await read(`/contract/1/${PLAIN}`, broken);
    expect(status).toBe(200);
    expect(page).toContain('Full match');
    expect(page).toContain('contract Token {}');
    const proof = await read(`/contract/1/${PLAIN}?tab=proof`, broken);
    expect(proof.page).toContain('Full match');
    expect(proof.page).toContain('The verification details could not be read');
    const history = await read(`/contract/1/${PLAIN}?tab=history`, broken);
    expect(history.page).toContain('Contracts with the same code could not be read');
    expect(history.page).toContain('database_unreachable');
  });

  test('claims only what is proven about values and licences', async () => {
    const { page } = await read(`/contract/1/${CLAIMED}?tab=proof`);
    expect(page).toContain('reported by the importer, not checked here');
    expect(page).toMatch(/decimals.*uint8.*18/s);
    expect(page).toContain('licence GPL-3.0 (declared in the sources)');
  });

  test('distinguishes an unreadable record from an unverified contract', async () => {
    const contracts = { ...real.contracts, readRecordVersion: fail };
    const failed = await read(`/contract/1/${PLAIN}`, { contracts });
    expect(failed.status).toBe(503);
    expect(failed.page).toContain('The record could not be read');
    expect(failed.page).not.toContain('Not verified yet');
    const absent = await read(`/contract/1/${ABSENT}`);
    expect(absent.status).toBe(404);
    expect(absent.page).toContain('Not verified yet');
    expect(absent.page).toContain('That does not make it unsafe.');
  });

  test('says that a match was withdrawn, with the reason as text', async () => {
    const reason = '<script>alert(1)</script>';
    await withdrawMatch(testDatabase.database, { chainId: 1, address: WITHDRAWN, reason });
    const { status, page } = await read(`/contract/1/${WITHDRAWN}`);
    expect(status).toBe(404);
    expect(page).toContain('This contract is not verified.');
    expect(page).toContain('&lt;script>alert(1)');
    expect(page).not.toContain(reason);
  });

  test('warns of invisible characters and shows none of them', async () => {
    const { page } = await read(`/contract/1/${DECEIVING}`);
    expect(page).toContain('the name of the contract, paths of sources, the ABI');
    expect(page).not.toMatch(/[\u200b\u202e\u2066]/);
    expect((await read(`/contract/1/${PLAIN}`)).page).not.toContain('Invisible characters');
  });

  test('lists 200 of 1,000 files, pages through the others, and shows the beginning of a large one', async () => {
    const { page } = await read(`/contract/1/${LARGE}`);
    const paths = new Set<string>();
    let [pages, next]: [number, string | undefined] = [0, ''];
    while (next !== undefined && pages < 10) {
      const { page: files } = await read(`/contract/1/${LARGE}${next}`);
      const links = [...files.matchAll(/href="\?source=([^"&#]*)/g)];
      expect(links).toHaveLength(200);
      for (const [, path = ''] of links) paths.add(path);
      next = /href="(\?files=[^"#]*)#sources"/.exec(files)?.[1];
      pages += 1;
    }
    expect([pages, paths.size]).toEqual([5, 1000]);
    expect([...page.matchAll(/class="line"/g)].length).toBeLessThanOrEqual(10_001);
    expect(page).toContain('the downloads have the whole file');
    const other = await read(`/contract/1/${LARGE}?source=deep%2FFile1.sol`);
    expect(other.page).toContain('contract A1 {}');
  });

  test('shows one mark for a run of one hidden character', async () => {
    const { page } = await read(`/contract/1/${HIDDEN_RUN}`);
    expect(page).toContain('>U+200B × 250,000</span>');
    expect(page).not.toContain('\u200b');
    expect(marksOf(page)).toBeLessThan(10);
    expect(page).toContain('contract A {}');
  });

  test('truncates a source with too many marks and says so', async () => {
    const { page } = await read(`/contract/1/${HIDDEN_MIX}`);
    expect(marksOf(page)).toBe(2_000);
    expect(page).toContain('the downloads have the whole file');
  });

  test('shortens long paths to their ends, without links too long for servers', async () => {
    const { page } = await read(`/contract/1/${LONG_PATHS}`);
    expect(page).toContain('199.sol');
    expect(page).not.toContain('href="?source=');
    expect(marksOf(page)).toBeLessThan(10_000);
  });

  test('describes only the part of an ABI that it shows', async () => {
    const { page } = await read(`/contract/1/${WIDE_ABI}?tab=abi`);
    expect(page).toMatch(/E11\(\(\(uint256, .{900,990}…</);
    expect(page).toMatch(/the first 60,000 characters/);
  });

  test('finds lines in the files and links to them', async () => {
    const { page } = await read(`/contract/1/${PLAIN}?find=TOKEN+%7B`);
    expect(page).toContain('1 line contains');
    expect(page).toContain('href="?source=a%2FToken.sol#L1"');
    expect((await read(`/contract/1/${LARGE}?find=nowhere`)).page).toContain('No line contains');
    // The file of 20,000 lines contains it in each line.
    expect((await read(`/contract/1/${LARGE}?find=line`)).page).toContain(
      'only the first ones are listed',
    );
    const hidden = await read(`/contract/1/${DECEIVING}?find=token`);
    expect(hidden.page).not.toMatch(/[\u200b\u202e\u2066]/);
  });

  test('finds lines in files of later pages and counts the files it cannot search', async () => {
    const far = (await read(`/contract/1/${LARGE}?find=contract+A999`)).page;
    expect(far).toContain('1 line contains');
    expect(far).toMatch(/href="\?source=[^"]*File999\.sol&amp;files=[^"]*#L1"/);
    expect(far).not.toContain('not searched');

    const { page } = await read(`/contract/1/${MANY_FILES}?find=contract+B1249`);
    expect(page).toContain('No line contains');
    expect(page).toContain('250 files were not searched');
  });

  test.each([HIDDEN_RUN, HIDDEN_MIX, LONG_PATHS, WIDE_ABI])(
    'weighs less than 2 MB in the worst case: %s',
    async (address) => {
      const app = createCheckedApiApp(await fixtureDependencies(real));
      for (const tab of ['code', 'abi', 'proof', 'downloads', 'history']) {
        const response = await app.request(`/contract/1/${address}?tab=${tab}&find=a`);
        expect((await response.arrayBuffer()).byteLength).toBeLessThan(2_000_000);
      }
    },
  );
});
