import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listCompilers } from './support/child-processes.ts';
import { type SolcVersion } from './support/compile-in-child.ts';
import { ANVIL, LINUX, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post, type WireJob } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

/** The slowest response that a client of the documents may get while a compiler explodes. */
const SLOWEST_ANSWER_MS = 2000;
/** asm.js and WebAssembly; versions in between explode in compilers-limits.test.ts. */
const BOMBED: readonly SolcVersion[] = ['0.4.11', '0.8.37'];
const PATH = 'a.sol';
const HARMLESS = 'contract A { uint public x; function f() public { x++; } }';

/** Each modifier runs its body twice: 28 of them produce 2^28 copies of it in the bytecode. */
const NAMES = Array.from({ length: 28 }, (_, index) => `m${index}`);
const DEFINITIONS = NAMES.map((name) => `modifier ${name}(){_;_;}`).join('');
const BOMB = `contract A{uint x;${DEFINITIONS}function f()public ${NAMES.join(' ')}{x++;}}`;
/** One modifier, used many times: 140 bytes at most. */
const SHORT_BOMB = `contract A{uint a;modifier m{_;_;}function f()public ${'m '.repeat(40)}{a++;}}`;

let verifying: VerifyingService;

async function deployHarmless(version: SolcVersion): Promise<string> {
  const input = inputOf({ [PATH]: HARMLESS });
  const { creationCode } = await compileAsDeveloper(version, input, PATH, 'A');
  return (await deploy(verifying.anvil, creationCode)).address;
}

const bodyOf = (version: SolcVersion, source: string): object => ({
  stdJsonInput: inputOf({ [PATH]: source }),
  compilerVersion: version,
  contractIdentifier: `${PATH}:A`,
});

/**
 * Requests /chains repeatedly while something happens.
 * @returns the slowest response, in milliseconds.
 */
async function askMeanwhile<T>(work: Promise<T>): Promise<{ value: T; slowestMs: number }> {
  const state = { ended: false, slowestMs: 0, answers: 0 };
  const asking = (async () => {
    while (!state.ended) {
      const begun = performance.now();
      const response = await fetch(`${verifying.service.apiUrl}/chains`);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      state.slowestMs = Math.max(state.slowestMs, performance.now() - begun);
      state.answers += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const value = await work.finally(() => (state.ended = true));
  await asking;
  expect(state.answers).toBeGreaterThan(5);
  return { value, slowestMs: state.slowestMs };
}

/** Compilers started since then; a compiler that exploded must not be among them. */
async function newCompilers(known: ReadonlySet<number>): Promise<readonly unknown[]> {
  return (await listCompilers()).filter(({ pid, state }) => state === 'Z' || !known.has(pid));
}

/** Expects that a bomb only ends its own job, with a reason; then the same address accepts the correct sources. */
async function expectContained(version: SolcVersion, bomb: string, code: string): Promise<WireJob> {
  const address = await deployHarmless(version);
  const statistics = await verifying.statistics();
  const known = new Set((await listCompilers()).map(({ pid }) => pid));
  const exploding = verifying.verify(address, bodyOf(version, bomb));
  const { value: job, slowestMs } = await askMeanwhile(exploding);
  expect(job.error).toMatchObject({ customCode: code });
  expect(job.contract).toMatchObject({ match: null, runtimeMatch: null, creationMatch: null });
  expect(slowestMs).toBeLessThan(SLOWEST_ANSWER_MS);
  await expect.poll(() => newCompilers(known)).toEqual([]);
  expect(await verifying.statistics()).toBe(statistics);
  const after = await verifying.verify(address, bodyOf(version, HARMLESS));
  expect(after.contract).toMatchObject({ runtimeMatch: 'exact_match' });
  // The next test starts from the counts including this match.
  await expect.poll(() => verifying.statistics()).not.toBe(statistics);
  return job;
}

const startWithin = (compilers: string, verification = 'workers: 2'): Promise<VerifyingService> =>
  startVerifyingService(
    (folder) => `
compilers: { folder: ${folder}, ${compilers} }
verification: { ${verification} }
`,
    { compilesAnew: true },
  );

describeWith([ANVIL, LINUX], 'compiler bombs in verification jobs', () => {
  describe('exhausting memory', () => {
    beforeAll(async () => {
      verifying = await startWithin(`memoryBytes: ${2 ** 27}, timeoutMs: 120000`);
    });
    afterAll(async () => {
      await verifying.close();
      expect(await listCompilers()).toEqual([]);
    });

    test.each(BOMBED)('end their job at the memory limit (solc %s)', async (version) => {
      await expectContained(version, BOMB, 'compiler_out_of_memory');
    });

    test('need no more than 140 bytes', async () => {
      expect(Buffer.byteLength(SHORT_BOMB)).toBeLessThanOrEqual(140);
      await expectContained('0.8.37', SHORT_BOMB, 'compiler_out_of_memory');
    });
  });

  describe('exhausting time', () => {
    beforeAll(async () => {
      // A fast machine fills the memory in less than 5 s.
      verifying = await startWithin(`memoryBytes: ${2 ** 31}, timeoutMs: 3500`);
    });
    afterAll(async () => {
      await verifying.close();
      expect(await listCompilers()).toEqual([]);
    });

    test.each(BOMBED)('end their job at the time limit (solc %s)', async (version) => {
      const job = await expectContained(version, BOMB, 'compiler_timeout');
      const took = Date.parse(job.jobFinishTime ?? '') - Date.parse(job.jobStartTime);
      expect(took).toBeLessThan(60_000);
    });

    test('are deduplicated, block no other job of their address, and may be resubmitted afterwards', async () => {
      const version = '0.8.37';
      const address = await deployHarmless(version);
      const url = `${verifying.service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`;
      const submit = async (): Promise<{ status: number; body: Record<string, string> }> => {
        const response = await post(url, bodyOf(version, BOMB));
        return {
          status: response.status,
          body: (await response.json()) as Record<string, string>,
        };
      };
      const first = await submit();
      expect(await submit()).toMatchObject({
        status: 429,
        body: { customCode: 'duplicate_verification_request' },
      });
      // A partial match, since a fully matched contract accepts no further submission.
      const good = await verifying.verify(address, bodyOf(version, `${HARMLESS}// changed`));
      expect(good.contract).toMatchObject({ runtimeMatch: 'match' });
      for (const submitted of [first, undefined]) {
        const { status, body } = submitted ?? (await submit());
        expect(status).toBe(202);
        const job = await pollJob(verifying.service.apiUrl, body['verificationId'] ?? '');
        expect(job.error).toMatchObject({ customCode: 'compiler_timeout' });
      }
      expect((await verifying.contractAt(address)).runtimeMatch).toBe('match');
    });
  });

  describe("within the compiler's limits", () => {
    beforeAll(async () => {
      verifying = await startWithin(
        `memoryBytes: ${2 ** 31}, timeoutMs: 120000`,
        'workers: 2, jobTimeoutMs: 3500',
      );
    });
    afterAll(async () => {
      await verifying.close();
      expect(await listCompilers()).toEqual([]);
    });

    test("end at the job's time limit together with their compiler", async () => {
      await expectContained('0.8.37', BOMB, 'job_timed_out');
    });
  });
});
