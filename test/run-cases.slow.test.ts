// The script that runs a folder of verification cases.
import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { readVerificationCases } from './support/verification-cases/verification-case.ts';

const OWN = fileURLToPath(new URL('cases/verification/', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../scripts/run-cases.ts', import.meta.url));
const own = readVerificationCases(OWN);

describe('scripts/run-cases.ts', () => {
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  beforeAll(async () => {
    folder = await createTemporaryFolder();
  });
  afterAll(() => folder.remove());

  function runScript(...parameters: string[]): Promise<{ status: number; stdout: string }> {
    return new Promise((resolve) => {
      const all = ['--import', 'tsx', SCRIPT, ...parameters];
      const child = execFile(process.execPath, all, (_error, stdout) =>
        resolve({ status: child.exitCode ?? -1, stdout }),
      );
    });
  }

  test('exits 1 and names the differing case', async () => {
    const name = 'solidity-0.3.6';
    await cp(path.join(OWN, `${name}.json`), path.join(folder.path, 'as-it-is.json'));
    const each = own.get(name)!;
    const other = { ...each, verification: { ...each.verification, runtimeMatch: null } };
    await mkdir(path.join(folder.path, 'within'));
    await writeFile(path.join(folder.path, 'within', 'other.json'), JSON.stringify(other));
    const { status, stdout } = await runScript(folder.path, '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      'as-it-is': { differences: [], compiler: 'real' },
      'within/other': {
        differences: [{ what: 'runtimeMatch', expected: null, got: 'match' }],
        compiler: 'real',
      },
    });
  });

  test('exits 2 if the folder contains no case', async () => {
    const empty = path.join(folder.path, 'empty');
    await mkdir(empty);
    const { status, stdout } = await runScript(empty);
    expect([status, stdout]).toEqual([2, '0 equal, 0 different, 0 skipped\n']);
  });
});
