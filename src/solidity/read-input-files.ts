import { isMembers, type Members, membersOf } from '../lib/members.ts';
import {
  type Declaration,
  findDeployableContracts,
  findMissingImports,
} from './build-standard-json.ts';
import { findInputFacts, type InputFacts, type JsonDocument } from './find-input-facts.ts';
import { type DetectedCompilation, type InputFiles } from './detected-compilation.ts';
import { type InputFile } from './input-file.ts';
import { matchFiles } from './match-files.ts';
import { isVyperImport, isVyperPath, vyperContractsIn } from './vyper-sources.ts';
import { isMetadata, listedSourcesOf, targetOf, versionOf } from './metadata.ts';

const unusable = (reason: string): InputFiles => ({ kind: 'unusable', reason });

/**
 * Finds what can be verified in dropped or chosen files: a standard JSON input, a Hardhat build info (with
 * the output, or with `output` in a separate file), the full record of a contract, a Foundry artifact, or a
 * metadata.json with its sources. The most complete kind is used; the other files count as sources.
 */
export function readInputFiles(files: readonly InputFile[]): InputFiles {
  const documents = files.flatMap(({ path, text }) => {
    const value = parseMembers(text);
    return value === undefined ? [] : [{ path, value }];
  });
  const kinds: Readonly<Record<string, (document: Members) => boolean>> = {
    'build info': ({ input }) => isStandardJson(input),
    'contract record': isContractRecord,
    // Metadata has the form of a standard JSON input without texts.
    'standard JSON input': (document) => isStandardJson(document) && !isMetadata(document),
    'metadata file': isMetadata,
    artifact: (document) => metadataOf(document) !== undefined,
  };
  for (const [name, fits] of Object.entries(kinds)) {
    const found = documents.filter(({ value }) => fits(value));
    if (found.length === 0) continue;
    const compilations = found.map((document) => toCompilation(document, documents, files));
    const fault = compilations.map(faultOfInput).find((each) => each !== '');
    if (fault !== undefined) return unusable(fault);
    return {
      kind: 'usable',
      from: found.length === 1 ? `One ${name}` : `${found.length} ${name}s`,
      compilations,
      contracts: [...new Set(compilations.flatMap(({ contracts }) => contracts))],
    };
  }
  return nothingOf(files, documents);
}

function toCompilation(
  document: JsonDocument,
  documents: readonly JsonDocument[],
  files: readonly InputFile[],
): DetectedCompilation {
  // A contract's record also contains its metadata.
  const metadata = isContractRecord(document.value) ? undefined : metadataOf(document.value);
  return metadata === undefined
    ? ofInput(document, documents)
    : ofMetadata(metadata, sourcesOf(files, documents));
}

function nothingOf(files: readonly InputFile[], documents: readonly JsonDocument[]): InputFiles {
  const broken = files.find(({ path, text }) => path.endsWith('.json') && faultOf(text) !== '');
  if (broken !== undefined) {
    return unusable(`${broken.path} is not JSON: ${faultOf(broken.text)}`);
  }
  const abi = files.find(({ text }) => isAbi(text));
  if (abi !== undefined && files.length === 1) {
    return unusable(
      `${abi.path} is an ABI, which has no sources. Choose the standard JSON input or the sources of the contract.`,
    );
  }
  const output = documents.find(({ value }) => isMembers(value['output']));
  if (output !== undefined) {
    return unusable(
      `${output.path} is the output of a build. Choose the build info with the same name without .output.`,
    );
  }
  const alone = sourcesAlone(files);
  const [document] = documents;
  // A folder of sources may contain a package.json, which is no error.
  if (alone.kind === 'usable' || document === undefined) return alone;
  const { path } = document;
  return unusable(
    `${path} is not a standard JSON input, a Hardhat build info, a Foundry artifact or a metadata.json.`,
  );
}

/** Reads plain sources, for which the user has to enter the settings. */
function sourcesAlone(files: readonly InputFile[]): InputFiles {
  const solidity = files.filter(({ path }) => path.endsWith('.sol'));
  if (solidity.length === 0 && files.some(({ path }) => isVyperPath(path)))
    return vyperAlone(files);
  if (solidity.length === 0) {
    return unusable(
      'These files do not show how they were compiled. Add the standard JSON input, build info, artifact or metadata.json of the compilation.',
    );
  }
  const sources = Object.fromEntries(solidity.map(({ path, text }) => [path, text]));
  const contracts = idsOf(findDeployableContracts(sources));
  const missing = findMissingImports({ sources }).map(({ path }) => path);
  return {
    kind: 'usable',
    from: solidity.length === 1 ? 'One Solidity source' : `${solidity.length} Solidity sources`,
    compilations: [{ kind: 'sources', language: 'Solidity', sources, contracts, missing }],
    contracts,
  };
}

/** Reads Vyper sources with the interfaces that they import. */
function vyperAlone(files: readonly InputFile[]): InputFiles {
  const read = files.filter(({ path }) => isVyperImport(path));
  const sources = Object.fromEntries(read.map(({ path, text }) => [path, text]));
  const contracts = idsOf(vyperContractsIn(Object.keys(sources)));
  return {
    kind: 'usable',
    from: read.length === 1 ? 'One Vyper source' : `${read.length} Vyper sources`,
    compilations: [{ kind: 'sources', language: 'Vyper', sources, contracts, missing: [] }],
    contracts,
  };
}

const idsOf = (declared: readonly Declaration[]): readonly string[] =>
  declared.map(({ path, name }) => `${path}:${name}`);

/** Removes the byte order mark that some editors write; it is not part of JSON. */
const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

function parseMembers(text: string): Members | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(withoutMark(text));
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const ABI_TYPES: ReadonlySet<unknown> = new Set([
  ...['function', 'constructor', 'event', 'error', 'fallback', 'receive'],
]);

function isAbi(text: string): boolean {
  if (!/^\s*\[/.test(text)) return false;
  try {
    const value: unknown = JSON.parse(text);
    return (
      Array.isArray(value) &&
      value.length > 0 &&
      value.every((entry) => isMembers(entry) && ABI_TYPES.has(entry['type']))
    );
  } catch {
    return false;
  }
}

function faultOf(text: string): string {
  try {
    JSON.parse(withoutMark(text));
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Removes the output from a build info, except for the names of its contracts: the rest is large and not used. */
export function withoutOutput(text: string): string {
  const document = parseMembers(text);
  const output: unknown = document?.['output'];
  if (!isMembers(output)) return text;
  const contracts = Object.entries(membersOf(output['contracts'])).map(
    ([path, inFile]): [string, Members] => [
      path,
      Object.fromEntries(Object.keys(membersOf(inFile)).map((name) => [name, {}])),
    ],
  );
  return JSON.stringify({ ...document, output: { contracts: Object.fromEntries(contracts) } });
}

function isStandardJson(value: unknown): boolean {
  return isMembers(value) && isMembers(value['sources']) && typeof value['language'] === 'string';
}

/** Returns whether a document is a contract's full record, `GET /v2/contract/…?fields=all` of this service or Sourcify. */
const isContractRecord = ({ stdJsonInput }: Members): boolean => isStandardJson(stdJsonInput);

const inputOf = (document: Members): Members =>
  [document, document['input'], document['stdJsonInput']].filter(isMembers).find(isStandardJson) ??
  {};

/** Reads an input. Hardhat 2 keeps the output in the same file, Hardhat 3 in another file with the same id. */
function ofInput(document: JsonDocument, documents: readonly JsonDocument[]): DetectedCompilation {
  const { value } = document;
  const { output } =
    documents.find((each) => isMembers(each.value['output']) && each.value['id'] === value['id'])
      ?.value ?? {};
  const compiled = Object.entries(membersOf(membersOf(output)['contracts'])).flatMap(
    ([path, inFile]) => Object.keys(membersOf(inFile)).map((name) => `${path}:${name}`),
  );
  const input = inputOf(value);
  const facts = findInputFacts(document, input, documents);
  const { compilerVersion } = facts;
  return {
    kind: 'standard_json',
    input,
    ...(compilerVersion !== undefined && { compilerVersion }),
    contracts: narrow(compiled.length > 0 ? compiled : declaredIn(input), facts),
    roots: membersOf(value['userSourceNameMap']),
  };
}

/** The one contract that the files are about if they say so, and all contracts otherwise. */
function narrow(contracts: readonly string[], { contract }: InputFacts): readonly string[] {
  if (contract?.includes(':') === true) return [contract];
  const called = contracts.filter((each) => each.endsWith(`:${contract}`));
  return called.length === 1 ? called : contracts;
}

function declaredIn(input: Members): readonly string[] {
  if (input['language'] === 'Vyper') {
    const sources = membersOf(input['sources']);
    // An input for one contract selects the output of its file; the other sources are imports.
    const selected = Object.keys(membersOf(membersOf(input['settings'])['outputSelection']));
    const isPlaced = selected.length > 0 && selected.every((path) => Object.hasOwn(sources, path));
    return idsOf(vyperContractsIn(isPlaced ? selected : Object.keys(sources)));
  }
  const texts = Object.entries(membersOf(input['sources'])).map(
    ([path, source]) => [path, String(membersOf(source)['content'])] as const,
  );
  return idsOf(findDeployableContracts(Object.fromEntries(texts)));
}

/** Returns why an input cannot be submitted; empty if it can. */
function faultOfInput(compilation: DetectedCompilation): string {
  if (compilation.kind !== 'standard_json') return '';
  const sources = Object.entries(membersOf(compilation.input['sources']));
  if (sources.length === 0) return 'The input has no sources.';
  const without = sources.find(([, source]) => typeof membersOf(source)['content'] !== 'string');
  if (without === undefined) return '';
  return `The source ${without[0]} has no content in the input; use an input with literal contents.`;
}

/** Returns the metadata of a metadata.json, or of a Foundry artifact, which contains it as an object or as text. */
export function metadataOf(value: unknown): Members | undefined {
  if (!isMembers(value)) return undefined;
  const { rawMetadata, metadata } = value;
  const written = typeof rawMetadata === 'string' ? rawMetadata : metadata;
  const inside = typeof written === 'string' ? parseMembers(written) : written;
  return [value, inside].find(isMetadata);
}

/**
 * Returns the files that are not JSON documents. Yul sources also start with a brace, so file content alone
 * is not enough.
 */
function sourcesOf(files: readonly InputFile[], documents: readonly JsonDocument[]): InputFile[] {
  const parsed = new Set(documents.map(({ path }) => path));
  return files.filter(({ path }) => !parsed.has(path));
}

function ofMetadata(metadata: Members, others: readonly InputFile[]): DetectedCompilation {
  const listed = listedSourcesOf(metadata);
  const matched = matchFiles(
    listed.filter(({ content }) => content === undefined),
    others,
  );
  const sources: [string, string][] = [];
  const missing: string[] = [];
  for (const { path, content } of listed) {
    const text = content ?? matched.get(path)?.text;
    if (text === undefined) missing.push(path);
    else sources.push([path, text]);
  }
  // The service also finds sources by hash, so files with another name are sent under that name.
  const used = new Set(sources.map(([, text]) => text));
  for (const { path, text } of others) if (!used.has(text)) sources.push([path, text]);
  const target = targetOf(metadata);
  const version = versionOf(metadata);
  return {
    kind: 'metadata',
    metadata,
    sources: Object.fromEntries(sources),
    contracts: target === undefined ? [] : [`${target.path}:${target.name}`],
    ...(version !== undefined && { compilerVersion: version }),
    missing,
  };
}
