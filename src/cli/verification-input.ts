import { type Dirent, existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../errors.ts';
import { bytesToHex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { type Members, membersOf } from '../lib/members.ts';
import { parseJson } from '../lib/parse-json.ts';
import { type InputFile } from '../solidity/input-file.ts';
import { splitQualifiedName } from '../solidity/library-id.ts';
import { type ListedSource, listedSourcesOf, targetOf } from '../solidity/metadata.ts';
import {
  compilationOf,
  type DetectedCompilation,
  nameInInput,
  type UsableInputFiles,
} from '../solidity/detected-compilation.ts';
import { metadataOf, readInputFiles } from '../solidity/read-input-files.ts';
import { type SourceSettings } from '../solidity/build-standard-json.ts';
import { unzipFiles } from '../solidity/unzip-files.ts';
import { toStandardJson } from '../solidity/to-standard-json.ts';
import { type StandardJsonInput } from '../solidity/standard-json.ts';
import {
  contractRequiredError,
  findUniqueContract,
  unknownContract,
  unusableInput,
} from './choose-contract.ts';
import { isPlainSource, readPlainSources } from './plain-sources.ts';
import { type VerificationRequest } from '../verification/verification-request.ts';

/** Command-line options apart from the path. */
export interface InputChoices {
  /** `path:Name` or `Name`. */
  readonly contract?: string;
  readonly compiler?: string;
  /** Folder with the sources of a metadata.json. */
  readonly sources?: string;
  /** For plain sources: the working directory, and the compiler settings. */
  readonly plain: { readonly workingDirectory: string; readonly settings: SourceSettings };
}

/** Limits of the search for metadata sources by hash, which covers a project with its dependencies. */
const MAX_FILES_SEARCHED = 20_000;
const MAX_BYTES_SEARCHED = 200_000_000;
const MAX_SOURCE_BYTES = 2_000_000;
const ARCHIVE_BOUNDS = { files: MAX_FILES_SEARCHED, bytes: MAX_BYTES_SEARCHED };
const isText = (name: string): boolean => /\.(?:json|sol|yul|vyi?)$/i.test(name);
/** Most artifacts read to list the contracts of a project. */
const MAX_ARTIFACTS = 2000;

/**
 * Reads the compilation at a path: a standard JSON input, a Hardhat build info file, a metadata.json with its
 * sources, or a Foundry project with its `out` folder.
 * @throws FullmatchError verification_input_unusable
 */
export async function readVerificationInput(
  input: string,
  choices: InputChoices,
): Promise<VerificationRequest['compilation']> {
  const found = await stat(input).catch(() => undefined);
  if (found === undefined) throw unusableInput(`There is nothing at ${input}.`);
  if (isPlain(input, found.isDirectory())) {
    const { plain, contract, compiler } = choices;
    return readPlainSources(input, plain.workingDirectory, {
      ...plain.settings,
      ...(contract !== undefined && { contract }),
      ...(compiler !== undefined && { compiler }),
    });
  }
  const files = found.isDirectory()
    ? await readFoundryProject(input, choices)
    : isZip(input)
      ? await readArchive(input)
      : await readFileWithSources(input, choices.sources ?? path.dirname(input));
  const read = readInputFiles(files);
  if (read.kind === 'unusable') throw unusableInput(read.reason);
  return toRequest(read, choices);
}

/** Returns whether the path is a source, or a folder without Foundry build output. */
function isPlain(input: string, isFolder: boolean): boolean {
  return isFolder ? !existsSync(path.join(input, 'out')) : isPlainSource(input);
}

function toRequest(
  files: UsableInputFiles,
  { contract, compiler }: InputChoices,
): VerificationRequest['compilation'] {
  const [first] = files.compilations;
  if (first?.kind === 'sources') throw unusableInput('Pass the source itself, or its folder.');
  if (first?.kind === 'metadata') {
    const { kind, metadata, sources } = first;
    if (contract !== undefined) requireTarget(metadata, contract);
    return { kind, metadata, sources };
  }
  const contractIdentifier = chooseContract(files, contract);
  const compilation = compilationOf(files, contractIdentifier ?? '');
  if (compilation?.kind !== 'standard_json') throw unusableInput('The file holds no compilation.');
  const compilerVersion = compiler ?? compilation.compilerVersion;
  if (compilerVersion === undefined) {
    throw unusableInput('A standard JSON input does not name its compiler: add --compiler 0.8.30.');
  }
  return {
    kind: 'standard_json',
    input: toStandardJson(compilation.input as unknown as StandardJsonInput),
    compilerVersion,
    ...(contractIdentifier !== undefined && { contractIdentifier }),
  };
}

/**
 * Fails if metadata is not that of the named contract.
 * @throws FullmatchError verification_input_unusable
 */
function requireTarget(metadata: Members, contract: string): void {
  const target = targetOf(metadata);
  if (target === undefined) return;
  const id = `${target.path}:${target.name}`;
  if (contract !== (contract.includes(':') ? id : target.name))
    throw unknownContract(contract, [id]);
}

/**
 * Returns the contract with its path. A name is enough if it is unique; no name is needed if there is only
 * one contract.
 * @returns undefined if none is named and the bytecode on chain must decide between several
 */
function chooseContract(files: UsableInputFiles, wanted: string | undefined): string | undefined {
  const { contracts, compilations } = files;
  if (wanted === undefined) {
    const [only, another] = contracts;
    if (only !== undefined && another === undefined) return only;
    if (compilations.length === 1) return undefined;
    throw contractRequiredError(contracts);
  }
  if (!wanted.includes(':')) return findUniqueContract(wanted, contracts);
  const named = nameInInput(files, wanted);
  const [path] = splitQualifiedName(named);
  if (compilations.some((each) => Object.hasOwn(sourcesOf(each), path))) return named;
  throw unknownContract(wanted, contracts);
}

function sourcesOf(compilation: DetectedCompilation): object {
  if (compilation.kind !== 'standard_json') return compilation.sources;
  return membersOf(compilation.input['sources']);
}

/** Decodes the text of a file; Windows editors may write UTF-16 with a byte order mark. */
export function decodeText(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return bytes.toString('utf16le', 2);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return bytes.toString('utf8');
}

async function readText(file: string): Promise<InputFile> {
  try {
    return { path: file, text: decodeText(await readFile(file)) };
  } catch (error) {
    throw unusableInput(`${file} cannot be read: ${messageOf(error)}`);
  }
}

const isZip = (file: string): boolean => /\.zip$/i.test(file);

/** Reads the text files of an archive, such as a contract's sources.zip. */
async function readArchive(file: string): Promise<InputFile[]> {
  try {
    const bytes = await readFile(file);
    const files = unzipFiles({ name: file, bytes }, isText, ARCHIVE_BOUNDS);
    return files.map((each) => ({ path: each.path, text: decodeText(Buffer.from(each.bytes)) }));
  } catch (error) {
    throw unusableInput(messageOf(error));
  }
}

/** Reads a file and, if it is metadata, the sources that it lists. */
async function readFileWithSources(file: string, folder: string): Promise<InputFile[]> {
  const read = await readText(file);
  const metadata = metadataIn(read);
  return metadata === undefined ? [read] : [read, ...(await readSources(metadata, folder))];
}

const metadataIn = ({ text }: InputFile): Members | undefined => metadataOf(parseJson(text));

/** Source names are untrusted: only files within the folder are read, after resolving links. */
async function readWithin(folder: string, name: string): Promise<string | undefined> {
  const file = path.resolve(folder, name);
  if (!file.startsWith(`${path.resolve(folder)}${path.sep}`)) return undefined;
  return readFile(file, 'utf8').catch(() => undefined);
}

/** Reads sources under their names, or from the folder `sources` next to the metadata as in a published tree. */
async function readSources(metadata: Members, folder: string): Promise<InputFile[]> {
  const files: InputFile[] = [];
  for (const { path: name } of listedSourcesOf(metadata)) {
    const text =
      (await readWithin(folder, name)) ??
      (await readWithin(path.join(folder, 'sources'), name)) ??
      (await readWithin(path.join(folder, 'sources'), name.replace(/[@:]/g, '_')));
    if (text !== undefined) files.push({ path: name, text });
  }
  const elsewhere = listedSourcesOf(metadata).filter(
    ({ path: name, content }) =>
      content === undefined && !files.some(({ path: found }) => found === name),
  );
  return [...files, ...(await findByHash(folder, elsewhere))];
}

/** Finds sources with other names in the folder and its subfolders by the hashes in the metadata. */
async function findByHash(
  folder: string,
  sources: readonly ListedSource[],
): Promise<readonly InputFile[]> {
  const wanted = new Map(sources.map(({ path: name, keccak256: hash = '' }) => [hash, name]));
  const found: InputFile[] = [];
  let seen = 0;
  let bytes = 0;
  const open = wanted.size === 0 ? [] : [folder];
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const file = path.join(at, entry.name);
      if (entry.isDirectory() && !entry.name.startsWith('.')) open.push(file);
      if (!entry.isFile()) continue;
      const size = (await stat(file).catch(() => undefined))?.size ?? Infinity;
      if (size > MAX_SOURCE_BYTES) continue;
      seen += 1;
      bytes += size;
      if (seen > MAX_FILES_SEARCHED || bytes > MAX_BYTES_SEARCHED) return found;
      const content = await readFile(file).catch(() => undefined);
      const name = content && wanted.get(bytesToHex(keccak256(content)));
      if (content === undefined || name === undefined) continue;
      wanted.delete(bytesToHex(keccak256(content)));
      found.push({ path: name, text: content.toString('utf8') });
      if (wanted.size === 0) return found;
    }
  }
  return found;
}

/** Reads a Foundry project: an artifact holds the metadata, the project holds the sources. */
async function readFoundryProject(
  project: string,
  { contract }: InputChoices,
): Promise<InputFile[]> {
  const out = path.join(project, 'out');
  const found = await readdir(out, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (found === undefined)
    throw unusableInput(`${project} has no folder "out"; run forge build first.`);
  const files = found.filter(
    (entry) =>
      entry.isFile() &&
      entry.name.endsWith('.json') &&
      path.basename(entry.parentPath) !== 'build-info',
  );
  const artifact =
    contract === undefined ? await chooseArtifact(files) : await findArtifact(files, contract);
  return [artifact.file, ...(await readSources(artifact.metadata, project))];
}

/** A file in the folder `out` with the metadata of a contract. */
interface Artifact {
  readonly file: InputFile;
  readonly metadata: Members;
  /** `path:Name`. */
  readonly target: string;
}

async function readArtifacts(files: readonly Dirent[]): Promise<readonly Artifact[]> {
  const artifacts: Artifact[] = [];
  for (const entry of files.slice(0, MAX_ARTIFACTS)) {
    const file = await readText(path.join(entry.parentPath, entry.name));
    const metadata = metadataIn(file);
    const target = metadata && targetOf(metadata);
    if (metadata === undefined || target === undefined) continue;
    artifacts.push({ file, metadata, target: `${target.path}:${target.name}` });
  }
  return artifacts;
}

/**
 * Returns the artifact of a named contract.
 * @throws FullmatchError verification_input_unusable, with the candidates
 */
async function findArtifact(files: readonly Dirent[], contract: string): Promise<Artifact> {
  const [, name] = splitQualifiedName(contract);
  const called = await readArtifacts(files.filter((entry) => entry.name === `${name}.json`));
  const targets = called.map(({ target }) => target);
  const isThere = contract.includes(':') ? targets.includes(contract) : targets.length > 0;
  if (!isThere)
    throw unknownContract(
      contract,
      (await readArtifacts(files)).map(({ target }) => target),
    );
  const wanted = contract.includes(':') ? contract : findUniqueContract(name, targets);
  const artifact = called.find(({ target }) => target === wanted);
  if (artifact === undefined) throw unknownContract(contract, targets);
  return artifact;
}

/**
 * Returns the only contract of a project, not counting libraries, tests and scripts.
 * @throws FullmatchError verification_input_unusable, with the candidates
 */
async function chooseArtifact(files: readonly Dirent[]): Promise<Artifact> {
  const own = (await readArtifacts(files)).filter(({ target }) => isOwn(target));
  const [only, another] = own;
  if (only !== undefined && another === undefined) return only;
  throw contractRequiredError(own.map(({ target }) => target).sort());
}

/** Returns whether a contract is in the project's own sources. */
const isOwn = (target: string): boolean => !/^(?:lib|test|script|node_modules)\//.test(target);
