import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { FullmatchError, messageOf } from '../errors.ts';
import { type Members } from '../lib/members.ts';
import { type InputFile } from '../solidity/input-file.ts';
import { listedSourcesOf, targetOf } from '../solidity/metadata.ts';
import {
  compilationOf,
  type InputFiles,
  metadataOf,
  readInputFiles,
} from '../solidity/read-input-files.ts';
import { type SourceSettings } from '../solidity/build-standard-json.ts';
import { toStandardJson } from '../solidity/to-standard-json.ts';
import { type StandardJsonInput } from '../solidity/standard-json.ts';
import { readPlainSources } from './plain-sources.ts';
import { type VerificationRequest } from '../verification/verification-request.ts';

/** What the command line says beside the path. */
export interface InputChoices {
  /** `path:Name` or `Name`. */
  readonly contract?: string;
  readonly compiler?: string;
  /** The folder of the sources of a metadata.json. */
  readonly sources?: string;
  /** For .sol files: where the command runs, and their settings. */
  readonly plain: { readonly workingDirectory: string; readonly settings: SourceSettings };
}

type UsableFiles = Extract<InputFiles, { kind: 'usable' }>;

/** How many contracts an error lists. */
const CONTRACTS_SHOWN = 20;

function unusable(message: string): FullmatchError {
  return new FullmatchError('verification_input_unusable', message);
}

/**
 * The compilation that a path holds: a standard JSON input, a build info file of Hardhat, a metadata.json with its
 * sources, or a project of Foundry with its `out` folder.
 * @throws FullmatchError verification_input_unusable
 */
export async function readVerificationInput(
  input: string,
  choices: InputChoices,
): Promise<VerificationRequest['compilation']> {
  const found = await stat(input).catch(() => undefined);
  if (found === undefined) throw unusable(`There is nothing at ${input}.`);
  if (await isPlain(input, found.isDirectory())) {
    const { plain, contract, compiler } = choices;
    return readPlainSources(input, plain.workingDirectory, {
      ...plain.settings,
      ...(contract !== undefined && { contract }),
      ...(compiler !== undefined && { compiler }),
    });
  }
  const files = found.isDirectory()
    ? await readFoundryProject(input, choices)
    : await readFileWithSources(input, choices.sources ?? path.dirname(input));
  const read = readInputFiles(files);
  if (read.kind === 'unusable') throw unusable(read.reason);
  return toRequest(read, choices);
}

/** Whether the path is a source, or a folder that Foundry has built nothing in. */
async function isPlain(input: string, isFolder: boolean): Promise<boolean> {
  if (!isFolder) return input.endsWith('.sol');
  return (await stat(path.join(input, 'out')).catch(() => undefined)) === undefined;
}

function toRequest(
  files: UsableFiles,
  { contract, compiler }: InputChoices,
): VerificationRequest['compilation'] {
  const [first] = files.compilations;
  if (first?.kind === 'sources') throw unusable('Name the .sol files themselves, or their folder.');
  if (first?.kind === 'metadata') {
    const { kind, metadata, sources } = first;
    return { kind, metadata, sources };
  }
  const contractIdentifier = chooseContract(files, contract);
  const compilation = compilationOf(files, contractIdentifier);
  if (compilation?.kind !== 'standard_json') throw unusable('The file holds no compilation.');
  const compilerVersion = compiler ?? compilation.compilerVersion;
  if (compilerVersion === undefined) {
    throw unusable('A standard JSON input does not say its compiler: add --compiler 0.8.30.');
  }
  return {
    kind: 'standard_json',
    input: toStandardJson(compilation.input as unknown as StandardJsonInput),
    compilerVersion,
    contractIdentifier,
  };
}

/** The contract with its path. A name alone is enough where one contract is called so; none, where there is only one. */
function chooseContract({ contracts }: UsableFiles, wanted: string | undefined): string {
  if (wanted?.includes(':') === true) return wanted;
  const candidates = contracts.filter(
    (contract) => wanted === undefined || contract.endsWith(`:${wanted}`),
  );
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return only;
  const listed = (candidates.length > 0 ? candidates : contracts).slice(0, CONTRACTS_SHOWN);
  const known = listed.length === 0 ? '' : ` It may be: ${listed.join(', ')}.`;
  throw unusable(
    wanted === undefined
      ? `Which contract? Add --contract path:Name.${known}`
      : `Not exactly one contract is called ${wanted}; add its path: --contract path:${wanted}.${known}`,
  );
}

async function readText(file: string): Promise<InputFile> {
  try {
    return { path: file, text: await readFile(file, 'utf8') };
  } catch (error) {
    throw unusable(`${file} cannot be read: ${messageOf(error)}`);
  }
}

/** A file, and where it is metadata the sources that it lists. */
async function readFileWithSources(file: string, folder: string): Promise<InputFile[]> {
  const read = await readText(file);
  const metadata = metadataIn(read);
  return metadata === undefined ? [read] : [read, ...(await readSources(metadata, folder))];
}

function metadataIn({ text }: InputFile): Members | undefined {
  try {
    return metadataOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Source names are data: only what lies within the folder is read, links followed. */
async function readWithin(folder: string, name: string): Promise<string | undefined> {
  const file = path.resolve(folder, name);
  if (!file.startsWith(`${path.resolve(folder)}${path.sep}`)) return undefined;
  return readFile(file, 'utf8').catch(() => undefined);
}

/** Sources lie under their names, or in the folder `sources` beside the metadata, as a published tree has them. */
async function readSources(metadata: Members, folder: string): Promise<InputFile[]> {
  const files: InputFile[] = [];
  for (const { path: name } of listedSourcesOf(metadata)) {
    const text =
      (await readWithin(folder, name)) ??
      (await readWithin(path.join(folder, 'sources'), name)) ??
      (await readWithin(path.join(folder, 'sources'), name.replace(/[@:]/g, '_')));
    if (text !== undefined) files.push({ path: name, text });
  }
  return files;
}

/** An artifact of Foundry holds the metadata; the sources lie in the project. */
async function readFoundryProject(
  project: string,
  { contract }: InputChoices,
): Promise<InputFile[]> {
  const out = path.join(project, 'out');
  const folders = await readdir(out).catch(() => undefined);
  if (folders === undefined) throw unusable(`${project} has no folder out; run forge build first.`);
  if (contract === undefined) throw unusable('Which contract? Add --contract src/Token.sol:Token.');
  const [, file, name = ''] = /^(?:(.*):)?([^:]+)$/.exec(contract) ?? [];
  const meant: InputFile[] = [];
  for (const folder of folders) {
    if (file !== undefined && path.basename(file) !== folder) continue;
    const artifact = path.join(out, folder, `${name}.json`);
    if ((await stat(artifact).catch(() => undefined)) === undefined) continue;
    const read = await readText(artifact);
    if (isMeant(metadataIn(read), file)) meant.push(read);
  }
  const [artifact, another] = meant;
  const metadata = artifact && metadataIn(artifact);
  if (artifact === undefined || metadata === undefined) {
    throw unusable(`${out} has no ${contract} with its metadata; run forge build again.`);
  }
  if (another !== undefined) throw unusable(`${out} has several ${contract}; add the path.`);
  return [artifact, ...(await readSources(metadata, project))];
}

function isMeant(metadata: Members | undefined, file: string | undefined): boolean {
  return metadata !== undefined && (file === undefined || targetOf(metadata)?.path === file);
}
