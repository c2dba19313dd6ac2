// Verifications as data: chain state, submission and verdict. scripts/run-cases.ts runs any folder of them: see
// run-cases.slow.test.ts.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCompilers, type Compilers } from '../src/compilers/compilers.ts';
import { silentLogger } from '../src/log.ts';
import { createJobReader, type JobReader } from '../src/verification/compilation/job-reader.ts';
import { isCompiledLanguage } from '../src/verification/compilation/languages/all-languages.ts';
import { recordedCompilers } from './support/recorded-compilers.ts';
import { NO_SHARED_DATA, sharedFolder } from './support/shared-data.ts';
import { SOLC_PACKAGES } from './support/solc-packages.ts';
import { runCase, type CaseOutcome } from './support/verification-cases/run-case.ts';
import {
  readVerificationCases,
  type VerificationCase,
} from './support/verification-cases/verification-case.ts';

const OWN = fileURLToPath(new URL('cases/verification/', import.meta.url));
const SHARED = sharedFolder('verification-cases/');

let compilers: Compilers;
/** The same, with recorded outputs of our own cases. */
let recorded: Compilers;
let reader: JobReader;
beforeAll(async () => {
  compilers = await createCompilers({ sources: { packages: SOLC_PACKAGES } }, silentLogger);
  recorded = recordedCompilers(compilers);
  reader = createJobReader();
});
afterAll(async () => {
  await reader.close();
  await compilers.close();
});

function run(each: VerificationCase, folder = OWN): Promise<CaseOutcome> {
  return runCase(each, { compilers: folder === OWN ? recorded : compilers, reader, folder });
}

const own = readVerificationCases(OWN);

test.each([...own])('the case %s has the expected outcome', async (_name, each) => {
  expect((await run(each)).differences).toEqual([]);
});

test('installed compilers compile and the rest are replayed', async () => {
  const ran = await Promise.all([...own.values()].map((each) => run(each)));
  const kinds = [...own.keys()].map((name, index) => [name, ran[index]?.compiler]);
  expect(Object.fromEntries(kinds)).toEqual({
    'no-auxdata-compiled-without-hash': 'replayed',
    'solidity-0.3.6': 'real',
    'solidity-0.4.5-library': 'replayed',
    'solidity-0.4.9': 'real',
  });
});

describe.skipIf(SHARED === undefined)(`published cases (skipped where ${NO_SHARED_DATA})`, () => {
  const cases = SHARED === undefined ? [] : [...readVerificationCases(SHARED)];
  test.each(cases)('%s', async (_name, each) => {
    const { differences, skipped } = await run(each, SHARED);
    expect(differences).toEqual([]);
    expect(skipped === undefined).toBe(isCompiledLanguage(each.input.stdJsonInput.language));
  });
});

describe('a case with another outcome', () => {
  const each = own.get('solidity-0.3.6')!;

  test.each([
    ['another match', { verification: { ...each.verification, runtimeMatch: 'exact_match' } }],
    ['a transformation', { verification: { ...each.verification, runtimeTransformations: [{}] } }],
    ['other compiled bytecode', { output: { ...each.output, creationBytecode: '0x00' } }],
    [
      'other on-chain bytecode',
      { onchain: { ...each.onchain, deployedBytecode: `${each.onchain.deployedBytecode}00` } },
    ],
  ])('is reported with the difference: %s', async (_what, other) => {
    const { differences } = await run({ ...each, ...other } as VerificationCase);
    expect(differences).toHaveLength(1);
  });

  test('is not replayed from recordings of other sources', async () => {
    const replayed = own.get('solidity-0.4.5-library')!;
    const { stdJsonInput } = replayed.input;
    const [name = ''] = Object.keys(stdJsonInput.sources);
    const sources = { ...stdJsonInput.sources, [name]: { content: 'contract Counter {}' } };
    const input = { ...replayed.input, stdJsonInput: { ...stdJsonInput, sources } };
    const { differences, compiler } = await run({ ...replayed, input });
    expect(compiler).toBe('replayed');
    expect(differences.map(({ what }) => what)).toEqual(['verdict']);
  });
});
