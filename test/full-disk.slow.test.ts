import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  configOf,
  deploy,
  findAnvil,
  NO_ANVIL,
  startAnvil,
  VERIFIED_CHAIN_ID,
  type Anvil,
} from './support/anvil.ts';
import { startProgram } from './support/booted-service.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { pollJob, post, type WireJob } from './support/verification-client.ts';

const MIB = 2 ** 20;
const DISK_BYTES = 256 * MIB;
const FLOOR_BYTES = 32 * MIB;
const VERSION = '0.8.37';
const SMALL = inputOf({ 'Stored.sol': 'contract Stored { uint256 public kept = 5; }' });
/**
 * More than PostgreSQL's files can absorb without growing, and incompressible. Each megabyte costs a compiler
 * two seconds, three times.
 */
const LARGE = inputOf({
  'Stored.sol': `// ${randomBytes(750_000).toString('base64')}\ncontract Stored {}`,
});
const DISK_FULL = {
  reasons: expect.arrayContaining([expect.objectContaining({ code: 'disk_full' })]) as unknown,
};

const codeOf = async (input: TestInput): Promise<string> =>
  (await compileAsDeveloper(VERSION, input, 'Stored.sol', 'Stored')).creationCode;

/**
 * Mounts a separate disk, which requires the permission to mount.
 * @returns why it is impossible; undefined after mounting it
 */
function mountDisk(folder: string): string | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=755`, 'none', folder], {
      stdio: 'ignore',
    });
    return undefined;
  } catch {
    return 'a disk cannot be mounted here';
  }
}

const folder = await createTemporaryFolder();
const impossible = findAnvil() === undefined ? NO_ANVIL : mountDisk(folder.path);
if (impossible !== undefined) await folder.remove();

describe.skipIf(impossible !== undefined)(
  `a disk that fills up while the service runs${impossible === undefined ? '' : ` (${impossible})`}`,
  () => {
    const filler = path.join(folder.path, 'filler');
    let anvil: Anvil;
    let program: Awaited<ReturnType<typeof startProgram>>;
    let smallCode: string;
    let largeCode: string;

    beforeAll(async () => {
      anvil = await startAnvil({ chainId: VERIFIED_CHAIN_ID });
      const config = configOf(anvil, `database: { minFreeBytes: ${FLOOR_BYTES} }\n`);
      await writeFile(path.join(folder.path, 'fullmatch.yaml'), config);
      [smallCode, largeCode] = await Promise.all([codeOf(SMALL), codeOf(LARGE)]);
      program = await startProgram({
        environment: { FULLMATCH_DATA_DIR: path.join(folder.path, 'data') },
        workingDirectory: folder.path,
      });
    });
    afterAll(async () => {
      program.child.kill('SIGTERM');
      await program.ended;
      await anvil.stop();
      execFileSync('umount', ['--lazy', folder.path]);
      await folder.remove();
    });

    /** Fills the disk except for this many bytes. */
    const fillUpTo = async (freeBytes: number): Promise<void> => {
      await rm(filler, { force: true });
      const { bavail, bsize } = await statfs(folder.path);
      const size = bavail * bsize - freeBytes;
      await writeFile(filler, Buffer.alloc(size)).catch(() => undefined);
    };
    const submit = async (input: TestInput, creationCode: string): Promise<Response> => {
      const { address } = await deploy(anvil, creationCode);
      return post(`${program.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, {
        stdJsonInput: input,
        compilerVersion: VERSION,
        contractIdentifier: 'Stored.sol:Stored',
      });
    };
    const health = async (): Promise<unknown> => (await fetch(`${program.apiUrl}/health`)).json();

    test('rejects submissions below the free-space minimum, serves reads, and recovers with space', async () => {
      await fillUpTo(FLOOR_BYTES / 2);
      await expect.poll(health).toMatchObject(DISK_FULL);
      const refused = await submit(SMALL, smallCode);
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject({ customCode: 'storage_full' });
      expect((await fetch(`${program.repositoryUrl}/stats.json`)).status).toBe(200);
      await rm(filler);
      await expect.poll(health).toMatchObject({ status: 'ok' });
      const accepted = await submit(SMALL, smallCode);
      expect(accepted.status).toBe(202);
      const { verificationId } = (await accepted.json()) as WireJob;
      expect((await pollJob(program.apiUrl, verificationId)).contract.runtimeMatch).toBe(
        'exact_match',
      );
    });

    test('keeps a job whose result cannot be written and stores it once there is space', async () => {
      const { verificationId } = (await (await submit(LARGE, largeCode)).json()) as WireJob;
      await fillUpTo(0);
      await program.waitForLine((line) => line.includes('"event":"job_put_back"'));
      expect(await health()).toMatchObject(DISK_FULL);
      const waiting = await fetch(`${program.apiUrl}/v2/verify/${verificationId}`);
      expect(await waiting.json()).toMatchObject({ isJobCompleted: false });
      await rm(filler);
      await expect.poll(health).toMatchObject({ status: 'ok' });
      const { contract } = await pollJob(program.apiUrl, verificationId);
      expect(contract.runtimeMatch).toBe('exact_match');
    });
  },
);
