import { type Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../errors.ts';
import { printableText } from '../lib/printable-text.ts';
import {
  buildStandardJson,
  type Declaration,
  findDeployableContracts,
  findMissingImports,
  PlainSourcesError,
  type SourceSettings,
} from '../solidity/build-standard-json.ts';
import { splitQualifiedName } from '../solidity/library-id.ts';
import {
  buildVyperJson,
  isVyperPath,
  vyperContractsIn,
  vyperImportsOf,
} from '../solidity/vyper-sources.ts';
import { findUniqueContract, unknownContract, unusableInput } from './choose-contract.ts';
import { type StandardJsonCompilation } from '../verification/verification-request.ts';

/** Command-line options for plain sources. */
export interface PlainChoices extends SourceSettings {
  readonly contract?: string;
  readonly compiler?: string;
}

const MAX_FILES = 3000;
const MAX_BYTES = 16_000_000;
const NAMES_SHOWN = 20;
/** Folders without sources of the project itself; sources in them are read only if imported. */
const SKIPPED = /^(?:\.|node_modules$|out$|artifacts$|cache$)/;

/** Returns whether a path is that of a source file that can be read on its own. */
export function isPlainSource(input: string): boolean {
  return input.endsWith('.sol') || isVyperPath(input);
}

/**
 * Reads a .sol or .vy file with its imports, or all such files in a folder. Imports are resolved in the
 * project and its node_modules, and nothing outside is read. The project is the working directory if it
 * contains the file. If no compiler is named, the version is empty and comes from the bytecode on chain.
 * @throws FullmatchError verification_input_unusable
 */
export async function readPlainSources(
  input: string,
  workingDirectory: string,
  { contract, compiler = '', ...settings }: PlainChoices,
): Promise<StandardJsonCompilation> {
  const isFolder = (await stat(input)).isDirectory();
  const project = projectOf(input, workingDirectory, isFolder);
  const names = isFolder ? await listSources(input) : [path.relative(project, input)];
  const sources = new Map<string, string>();
  for (const name of names) addSource(sources, name, await readText(path.join(project, name)));
  if (names.every(isVyperPath)) {
    const declared = vyperContractsIn([...sources.keys()]);
    await addVyperImports(sources, project);
    return {
      ...{ kind: 'standard_json', input: buildVyper(sources, settings) },
      ...{ compilerVersion: compiler, trySettings: true },
      ...placeContract(contract, declared, sources),
    };
  }
  const { remappings = [] } = settings;
  const known = (): Record<string, string> => Object.fromEntries(sources);
  for (let missing = findMissingImports({ sources: known(), remappings }); missing.length > 0;) {
    const before = sources.size;
    for (const { path: name } of missing) {
      const text = await readImport(project, name);
      if (text !== undefined) addSource(sources, name, text);
    }
    missing = findMissingImports({ sources: known(), remappings });
    if (sources.size > before) continue;
    const shown = missing
      .slice(0, NAMES_SHOWN)
      .map(
        ({ path: name, from }) => `\n  ${printableText(name)}, imported by ${printableText(from)}`,
      );
    throw unusableInput(
      `These imports are not in the project; add remappings or the files:${shown.join('')}`,
    );
  }
  return {
    kind: 'standard_json',
    input: build(() => buildStandardJson({ sources: known(), ...settings })),
    compilerVersion: compiler,
    trySettings: true,
    ...placeContract(contract, findDeployableContracts(known()), sources),
  };
}

/**
 * Adds the imports of the sources that the project contains; any other import is built into the compiler or
 * reported by it.
 */
async function addVyperImports(sources: Map<string, string>, project: string): Promise<void> {
  const tried = new Set<string>();
  // The iteration also visits sources added here.
  for (const [importing, text] of sources) {
    for (const name of vyperImportsOf(importing, text)) {
      if (tried.has(name) || sources.has(name)) continue;
      tried.add(name);
      const imported = await readImport(project, name);
      if (imported !== undefined) addSource(sources, name, imported);
    }
  }
}

function buildVyper(
  sources: ReadonlyMap<string, string>,
  { evmVersion = '', ...others }: SourceSettings,
): StandardJsonCompilation['input'] {
  if (Object.keys(others).length > 0) {
    throw unusableInput(
      'For Vyper only --evm-version can be given; set the rest by a pragma in the source, or use a standard JSON input.',
    );
  }
  return build(() =>
    buildVyperJson({ sources: Object.fromEntries(sources), evmVersion, parseAbi }),
  );
}

function parseAbi(path: string, content: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch (error) {
    throw unusableInput(`The interface ${printableText(path)} is not JSON: ${messageOf(error)}`);
  }
}

function build(make: () => StandardJsonCompilation['input']): StandardJsonCompilation['input'] {
  try {
    return make();
  } catch (error) {
    if (error instanceof PlainSourcesError) throw unusableInput(error.message);
    throw error;
  }
}

function projectOf(input: string, workingDirectory: string, isFolder: boolean): string {
  if (isFolder) return input;
  const isInside = input.startsWith(`${path.resolve(workingDirectory)}${path.sep}`);
  return isInside ? path.resolve(workingDirectory) : path.dirname(input);
}

/**
 * Lists the .sol files of a folder and its subfolders, named as imports name them; the .vy files if there are
 * no .sol files.
 */
async function listSources(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  const open = [''];
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    const entries: Dirent[] = await readdir(path.join(folder, at), { withFileTypes: true });
    for (const entry of entries.sort((one, other) => one.name.localeCompare(other.name))) {
      const name = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory() && !SKIPPED.test(entry.name)) open.push(name);
      if (entry.isFile() && isPlainSource(entry.name)) names.push(name);
    }
    if (names.length > MAX_FILES)
      throw unusableInput(`${folder} has more than ${MAX_FILES} sources.`);
  }
  if (names.length === 0) {
    throw unusableInput(`${folder} has neither a folder out nor .sol or .vy files.`);
  }
  const solidity = names.filter((name) => !isVyperPath(name));
  return solidity.length > 0 ? solidity : names;
}

function addSource(sources: Map<string, string>, name: string, text: string): void {
  sources.set(name.split(path.sep).join('/'), text);
  const bytes = [...sources.values()].reduce((sum, each) => sum + each.length, 0);
  if (sources.size > MAX_FILES || bytes > MAX_BYTES) {
    throw unusableInput(`The sources are more than ${MAX_FILES} files or ${MAX_BYTES} bytes.`);
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unusableInput(`${file} cannot be read: ${messageOf(error)}`);
  }
}

/**
 * Reads an imported source; undefined if the project does not have it. Names are untrusted: none may lead
 * outside the project.
 */
async function readImport(project: string, name: string): Promise<string | undefined> {
  for (const folder of [project, path.join(project, 'node_modules')]) {
    const file = path.resolve(folder, name);
    if (!file.startsWith(`${folder}${path.sep}`)) continue;
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Returns the contract as path:Name; undefined if the bytecode on chain must decide which contract it is. */
function placeContract(
  contract: string | undefined,
  declared: readonly Declaration[],
  sources: ReadonlyMap<string, string>,
): { readonly contractIdentifier?: string } {
  const contracts = declared.map(({ path: file, name }) => `${file}:${name}`);
  if (contract === undefined) {
    const [only, another] = contracts;
    return only !== undefined && another === undefined ? { contractIdentifier: only } : {};
  }
  if (!contract.includes(':'))
    return { contractIdentifier: findUniqueContract(contract, contracts) };
  const [file] = splitQualifiedName(contract);
  if (sources.has(file)) return { contractIdentifier: contract };
  throw unknownContract(contract, contracts);
}
