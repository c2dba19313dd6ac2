// Recorded output of a real Solar build, so that tests need no build: cargo takes ten minutes and at least Rust 1.98.
//
//   cargo install solar-compiler --version 0.3.0
//   FULLMATCH_SOLAR=<the program> npx vitest run test/verify-solar.test.ts
//
// recompiles everything and writes the recordings.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SOLAR } from '../../src/compilers/toolchains/solar.ts';
import { COMPILATIONS, keepCompilation, readCompilation } from './compile-in-child.ts';
import { packSolar } from './recorded-compilations.ts';
import { createTemporaryFolder } from './temporary-folder.ts';
import { type TestInput } from './developer.ts';

/** Version of the recorded build. */
export const SOLAR_VERSION = '0.8.38+commit.275d15ec.solar.0.3.0';

const PROGRAM = process.env['FULLMATCH_SOLAR'];

/**
 * A folder of compilers with a Solar build and the list that pins it. Recorded compilations do not run it:
 * then it is a fake.
 */
export async function createSolarFolder(): ReturnType<typeof createTemporaryFolder> {
  const folder = await createTemporaryFolder();
  const name = SOLAR.names.fileNameOf(SOLAR_VERSION, 'native');
  const file = path.join(folder.path, name);
  if (PROGRAM === undefined) await writeFile(file, '#!/bin/false\n');
  else await copyFile(PROGRAM, file);
  await chmod(file, 0o755);
  const sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  const list = { builds: [{ path: name, longVersion: SOLAR_VERSION, sha256 }] };
  await writeFile(path.join(folder.path, 'list.json'), JSON.stringify(list));
  return folder;
}

/**
 * Discards the recordings if a build is given.
 * @returns a function that records what was compiled since
 */
export async function recordSolar(): Promise<() => Promise<void>> {
  if (PROGRAM === undefined) return () => Promise.resolve();
  await rm(COMPILATIONS, { recursive: true, force: true });
  const begun = new Date();
  return () => packSolar(begun);
}

/**
 * Compiles as a developer does, with the same program outside the service.
 * @returns the creation bytecode in hex
 */
export async function compileSolar(input: TestInput, file: string, name: string): Promise<string> {
  const outputs = ['metadata', 'evm.bytecode.object'];
  const settings = { ...input.settings, outputSelection: { [file]: { [name]: outputs } } };
  const text = JSON.stringify({ ...input, settings });
  const key = createHash('sha256').update(`solar ${SOLAR_VERSION} ${text}`).digest('hex');
  const kept = await readCompilation(key);
  const output = JSON.parse(kept ?? (await runSolar(text))) as {
    errors?: { formattedMessage: string }[];
    contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
  };
  const object = output.contracts?.[file]?.[name]?.evm.bytecode.object;
  if (object === undefined) throw new Error(JSON.stringify(output.errors));
  if (kept === undefined) await keepCompilation(key, JSON.stringify(output));
  return object;
}

async function runSolar(input: string): Promise<string> {
  if (PROGRAM === undefined) throw new Error('this input is not recorded, see solar-recordings.ts');
  return new Promise((resolve, reject) => {
    const child = execFile(PROGRAM, ['--standard-json'], { maxBuffer: 2 ** 26 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(new Error(error.message)),
    );
    child.stdin?.end(input);
  });
}
