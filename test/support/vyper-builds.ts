import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { keepCompilation, readCompilation } from './compile-in-child.ts';
import { type TestInput } from './developer.ts';

/** Installation folder of scripts/install-vyper.sh. */
export const VYPER_FOLDER = path.resolve(
  import.meta.dirname,
  '../../node_modules/.cache/fullmatch-vyper',
);

/** The Vyper versions used by tests, one for each generation of auxdata. */
export const VYPER_VERSIONS = [
  '0.2.16+commit.59e1bdd9',
  '0.3.9+commit.66b96705',
  '0.3.10+commit.91361694',
  '0.4.3+commit.bff19ea2',
] as const;

/** Why Vyper tests are skipped; undefined if all compilers are installed. */
export const NO_VYPER: string | undefined = findAbsence();

function findAbsence(): string | undefined {
  let names: readonly string[] = [];
  try {
    names = readdirSync(VYPER_FOLDER);
  } catch {
    // The folder does not exist.
  }
  const isThere = (version: string): boolean =>
    names.some((name) => name.startsWith(`vyper.${version.replace(/\+.*/, '')}+`));
  return VYPER_VERSIONS.every(isThere)
    ? undefined
    : 'skipped: no compilers of Vyper, run scripts/install-vyper.sh';
}

/** Whether the compiler of a release is installed. */
export function hasVyperBuild(release: string): boolean {
  return (
    existsSync(VYPER_FOLDER) &&
    readdirSync(VYPER_FOLDER).some((name) => name.startsWith(`vyper.${release}+`))
  );
}

/** The program of a version. */
export function findVyperBuild(version: string): string {
  const release = version.replace(/\+.*/, '');
  const name = readdirSync(VYPER_FOLDER).find((each) => each.startsWith(`vyper.${release}+`));
  if (name === undefined) throw new Error(`there is no Vyper ${release}`);
  return path.join(VYPER_FOLDER, name);
}

/** A Vyper input with one or several sources. */
export function vyperInput(
  sources: Readonly<Record<string, string>>,
  more: Readonly<Record<string, unknown>> = {},
): TestInput {
  return {
    language: 'Vyper',
    sources: Object.fromEntries(
      Object.entries(sources).map(([file, content]) => [file, { content }]),
    ),
    settings: {},
    ...more,
  };
}

/**
 * Compiles as a developer does, with the same program outside the service.
 * @returns the creation bytecode in hex
 */
export async function compileVyper(
  version: string,
  input: TestInput,
  file: string,
): Promise<string> {
  const outputs = ['evm.bytecode.object'];
  const settings = { ...input.settings, outputSelection: { [file]: outputs } };
  const text = JSON.stringify({ ...input, settings });
  const key = createHash('sha256').update(`vyper ${version} ${text}`).digest('hex');
  const kept = await readCompilation(key);
  const output = JSON.parse(kept ?? (await runVyper(version, text))) as {
    errors?: { formattedMessage: string }[];
    contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
  };
  const name = path.basename(file, '.vy');
  const object = output.contracts?.[file]?.[name]?.evm.bytecode.object;
  if (object === undefined) throw new Error(JSON.stringify(output.errors));
  if (kept === undefined) await keepCompilation(key, JSON.stringify(output));
  return object.replace(/^0x/, '');
}

async function runVyper(version: string, input: string): Promise<string> {
  const options = { maxBuffer: 2 ** 26 };
  const run = promisify(execFile)(findVyperBuild(version), ['--standard-json'], options);
  run.child.stdin?.end(input);
  return (await run).stdout;
}

/** The input of a contract whose files are in a folder, as bundled by the compiler. */
export async function bundleVyper(version: string, folder: string, file: string): Promise<string> {
  const options = { cwd: folder, maxBuffer: 2 ** 26 };
  const parameters = ['-f', 'solc_json', file];
  return (await promisify(execFile)(findVyperBuild(version), parameters, options)).stdout;
}
