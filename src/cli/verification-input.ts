import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { FullmatchError, messageOf } from '../errors.ts';
import { type StandardJsonInput } from '../compilers/standard-json.ts';
import { isMembers, type Members } from '../lib/members.ts';
import { type VerificationRequest } from '../verification/verification-request.ts';

/** What the command line says beside the path. */
export interface InputChoices {
  /** `path:Name` or `Name`. */
  readonly contract?: string;
  readonly compiler?: string;
  /** The folder of the sources of a metadata.json. */
  readonly sources?: string;
}

function unusable(message: string): FullmatchError {
  return new FullmatchError('verification_input_unusable', message);
}

async function readJson(file: string): Promise<Members> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw unusable(`${file} cannot be read as JSON: ${messageOf(error)}`);
  }
  if (isMembers(value)) return value;
  throw unusable(`${file} holds no JSON object.`);
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
  if (found.isDirectory()) return readFoundryProject(input, choices);
  const document = await readJson(input);
  if (isMembers(document['input']) && 'solcLongVersion' in document) {
    return readBuildInfo(document, choices);
  }
  if (isMembers(document['settings']) && 'compilationTarget' in document['settings']) {
    const folder = choices.sources ?? path.dirname(input);
    return readMetadata(document, folder);
  }
  if (isMembers(document['sources']) && typeof document['language'] === 'string') {
    return toStandardJson(document, choices, choices.compiler);
  }
  throw unusable(`${input} is no standard JSON input, no build info and no metadata.json.`);
}

function toStandardJson(
  input: Members,
  { contract }: InputChoices,
  compilerVersion: string | undefined,
): VerificationRequest['compilation'] {
  if (compilerVersion === undefined) {
    throw unusable('A standard JSON input does not say its compiler: add --compiler 0.8.30.');
  }
  const sources = Object.keys(isMembers(input['sources']) ? input['sources'] : {});
  return {
    kind: 'standard_json',
    input: { settings: {}, ...input } as unknown as StandardJsonInput,
    compilerVersion,
    contractIdentifier: identify(contract, sources),
  };
}

/** The contract with its path. A name alone is enough where one source is called like it, or there is one source. */
function identify(contract: string | undefined, sources: readonly string[]): string {
  if (contract === undefined) {
    throw unusable('Which contract? Add --contract path:Name, such as contracts/Token.sol:Token.');
  }
  if (contract.includes(':')) return contract;
  const named = sources.filter((source) => path.posix.basename(source) === `${contract}.sol`);
  const candidates = sources.length === 1 ? sources : named;
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return `${only}:${contract}`;
  throw unusable(
    `${contract} is in one of several sources; add its path: --contract path:${contract}.`,
  );
}

function readBuildInfo(
  document: Members,
  choices: InputChoices,
): VerificationRequest['compilation'] {
  const version = choices.compiler ?? document['solcLongVersion'];
  return toStandardJson(
    document['input'] as Members,
    choices,
    typeof version === 'string' ? version : undefined,
  );
}

/** Source names are data: only what lies within the folder is read, links followed. */
async function readWithin(folder: string, name: string): Promise<string | undefined> {
  const file = path.resolve(folder, name);
  if (!file.startsWith(`${path.resolve(folder)}${path.sep}`)) return undefined;
  return readFile(file, 'utf8').catch(() => undefined);
}

/** Sources lie under their names, or in the folder `sources` beside the metadata, as a published tree has them. */
async function readMetadata(
  metadata: Members,
  folder: string,
): Promise<VerificationRequest['compilation']> {
  const names = Object.keys(isMembers(metadata['sources']) ? metadata['sources'] : {});
  const sources: [string, string][] = [];
  for (const name of names) {
    const content =
      (await readWithin(folder, name)) ??
      (await readWithin(path.join(folder, 'sources'), name)) ??
      (await readWithin(path.join(folder, 'sources'), name.replace(/[@:]/g, '_')));
    if (content !== undefined) sources.push([name, content]);
  }
  return { kind: 'metadata', metadata, sources: Object.fromEntries(sources) };
}

/** An artifact of Foundry holds the metadata; the sources lie in the project. */
async function readFoundryProject(
  project: string,
  { contract }: InputChoices,
): Promise<VerificationRequest['compilation']> {
  const out = path.join(project, 'out');
  const folders = await readdir(out).catch(() => undefined);
  if (folders === undefined) throw unusable(`${project} has no folder out; run forge build first.`);
  if (contract === undefined) throw unusable('Which contract? Add --contract src/Token.sol:Token.');
  const [, file, name = ''] = /^(?:(.*):)?([^:]+)$/.exec(contract) ?? [];
  const artifacts: Members[] = [];
  for (const folder of folders) {
    if (file !== undefined && path.basename(file) !== folder) continue;
    const artifact = path.join(out, folder, `${name}.json`);
    if (await stat(artifact).catch(() => undefined)) artifacts.push(await readJson(artifact));
  }
  const [metadata, another] = artifacts.flatMap((artifact) => readArtifact(artifact, file));
  if (metadata === undefined) {
    throw unusable(`${out} has no ${contract} with its metadata; run forge build again.`);
  }
  if (another !== undefined) throw unusable(`${out} has several ${contract}; add the path.`);
  return readMetadata(metadata, project);
}

function readArtifact({ metadata, rawMetadata }: Members, file: string | undefined): Members[] {
  const parsed: unknown = typeof rawMetadata === 'string' ? JSON.parse(rawMetadata) : metadata;
  if (!isMembers(parsed) || !isMembers(parsed['settings'])) return [];
  const target = parsed['settings']['compilationTarget'];
  const isMeant = file === undefined || (isMembers(target) && Object.hasOwn(target, file));
  return isMeant ? [parsed] : [];
}
