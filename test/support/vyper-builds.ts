import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type TestInput } from './verification-fixture.ts';

/** Where scripts/install-vyper.sh puts compilers. */
export const VYPER_FOLDER = path.resolve(
  import.meta.dirname,
  '../../node_modules/.cache/fullmatch-vyper',
);

/** The versions of Vyper that tests compile with, one of each generation of auxdata. */
export const VYPER_VERSIONS = [
  '0.2.16+commit.59e1bdd9',
  '0.3.9+commit.66b96705',
  '0.3.10+commit.91361694',
  '0.4.3+commit.bff19ea2',
] as const;

/** Why tests of Vyper are skipped; undefined where all compilers are there. */
export const NO_VYPER: string | undefined = findAbsence();

function findAbsence(): string | undefined {
  let names: readonly string[] = [];
  try {
    names = readdirSync(VYPER_FOLDER);
  } catch {
    // There is no such folder.
  }
  const isThere = (version: string): boolean =>
    names.some((name) => name.startsWith(`vyper.${version.replace(/\+.*/, '')}+`));
  return VYPER_VERSIONS.every(isThere)
    ? undefined
    : 'skipped: no compilers of Vyper, run scripts/install-vyper.sh';
}

/** The program of a version. */
export function findVyperBuild(version: string): string {
  const release = version.replace(/\+.*/, '');
  const name = readdirSync(VYPER_FOLDER).find((each) => each.startsWith(`vyper.${release}+`));
  if (name === undefined) throw new Error(`there is no Vyper ${release}`);
  return path.join(VYPER_FOLDER, name);
}

/** A Vyper input with one source or several. */
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

/** Compiles as a developer does, by the same program outside of the service. @returns the creation code in hex */
export async function compileVyper(
  version: string,
  input: TestInput,
  file: string,
): Promise<string> {
  const outputs = ['evm.bytecode.object'];
  const settings = { ...input.settings, outputSelection: { [file]: outputs } };
  const run = promisify(execFile)(findVyperBuild(version), ['--standard-json'], {
    maxBuffer: 2 ** 26,
  });
  run.child.stdin?.end(JSON.stringify({ ...input, settings }));
  const { stdout } = await run;
  const output = JSON.parse(stdout) as {
    errors?: { formattedMessage: string }[];
    contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
  };
  const name = path.basename(file, '.vy');
  const object = output.contracts?.[file]?.[name]?.evm.bytecode.object;
  if (object === undefined) throw new Error(JSON.stringify(output.errors));
  return object.replace(/^0x/, '');
}

/** The input of a contract whose files lie in a folder, as the compiler itself bundles it. */
export async function bundleVyper(version: string, folder: string, file: string): Promise<string> {
  const options = { cwd: folder, maxBuffer: 2 ** 26 };
  const parameters = ['-f', 'solc_json', file];
  return (await promisify(execFile)(findVyperBuild(version), parameters, options)).stdout;
}
