import { type Hex, isTransactionHash, parseAddress } from '../lib/hex.ts';
import { type Members, membersOf } from '../lib/members.ts';
import { parseJson } from '../lib/parse-json.ts';
import {
  type ContractSections,
  filesOf,
  type Match,
  type Source,
} from '../repository/repository.ts';
import { type ContractFolder, type FileReader } from './contract-folder.ts';
import { type DeliveredRow, toDeliveredEvidence } from './delivered-evidence.ts';
import { deriveMetadata } from './derive-metadata.ts';
import { type ImportLimits } from './import-limits.ts';
import { parseRowJson, Refusal } from './refusal.ts';
import { containsHashOf, haveSameMetadataHash, restoreMetadata } from './restore-metadata.ts';

/** Values of a genesis allocation in the field's tables: no transaction created it. */
const GENESIS_BLOCK = -1;

/** A verified contract in the columns of the Verifier Alliance, without its sources. JSON columns are text. */
export interface DeliveredFacts {
  readonly language: string;
  readonly compiler: string;
  readonly version: string;
  readonly name: string;
  readonly fully_qualified_name: string;
  readonly settings: string;
  readonly artifacts: string;
  readonly runtime_artifacts: string | null;
  readonly recompiled: Uint8Array | null;
  readonly on_chain: Uint8Array | null;
  readonly runtime_transformations: string | null;
  readonly runtime_values: string | null;
  readonly creation_artifacts: string | null;
  readonly recompiled_creation: Uint8Array | null;
  readonly creation_on_chain: Uint8Array | null;
  /** Whether the row refers to a creation bytecode, possibly the empty one. */
  readonly has_creation: boolean;
  readonly creation_transformations: string | null;
  readonly creation_values: string | null;
  readonly additional_input: string | null;
  readonly block_number: number | null;
  readonly transaction_index: number | null;
  readonly deployer: Hex | null;
  readonly metadata: string | null;
  readonly transaction_hash: string | null;
}

/** The delivered match of each bytecode; null for none. */
export interface DeliveredMatches {
  readonly runtime: Match | null;
  readonly creation: Match | null;
}

/** A contract as another service delivers it. */
export interface DeliveredContract {
  /** Lower-case hex. */
  readonly address: Hex;
  readonly facts: DeliveredFacts;
  readonly sources: readonly Source[];
  readonly matches: DeliveredMatches;
  /** Whether another writer changed the whitespace and escapes of the metadata. */
  readonly isRewritten: boolean;
}

/**
 * Copies a contract for a thread. Values from a driver share an ArrayBuffer with other rows, which would be
 * copied along.
 */
export function copyForTransfer(contract: DeliveredContract): DeliveredContract {
  const own = (code: Uint8Array | null): Uint8Array | null => code && new Uint8Array(code);
  const { facts } = contract;
  return {
    ...contract,
    facts: {
      ...facts,
      recompiled: own(facts.recompiled),
      on_chain: own(facts.on_chain),
      recompiled_creation: own(facts.recompiled_creation),
      creation_on_chain: own(facts.creation_on_chain),
    },
  };
}

/**
 * Converts a delivered contract to the files of a published tree, so that it passes the same checks, and
 * replays its evidence. If a full match has no metadata, it is derived; if the derived metadata does not hash
 * to the value in the bytecode, the match becomes partial. A full match is `rechecked` only if both runtime
 * bytecodes contain the hash of its metadata.
 * @throws Refusal `codes_differ`, `wrong_metadata_hash`, `broken_row`, `too_many_files`
 */
export function toContractFolder(
  { address, facts, sources, matches, isRewritten }: DeliveredContract,
  limits: ImportLimits,
): ContractFolder {
  requireTexts(facts);
  const evidence = toDeliveredEvidence(deliveredRow(address, facts, matches));
  if (sources.length > limits.sources) throw new Refusal('too_many_files', 'sources');
  if (
    !sources.every(({ path, content }) => typeof path === 'string' && typeof content === 'string')
  ) {
    throw new Refusal('broken_row', 'sources');
  }
  const isFull = matches.runtime === 'full' || matches.creation === 'full';
  const metadata = metadataOf(facts, sources, isFull, matches.runtime === 'full', isRewritten);
  const found: DeliveredFacts = { ...facts, metadata };
  const isProven = containsMetadataHash(found);
  if (matches.runtime === 'full' && isProven === false) {
    throw new Refusal('wrong_metadata_hash', 'metadata');
  }
  const files = filesOfContract(found, sources);
  if (!isFull) return { ...files, evidence };
  if (metadata === null) {
    const atMost = (match: Match | null): Match | null => (match === null ? null : 'partial');
    const runtimeMatch = atMost(evidence.runtimeMatch);
    const creationMatch = atMost(evidence.creationMatch);
    return { ...files, evidence: { ...evidence, runtimeMatch, creationMatch }, match: 'partial' };
  }
  // The hash is what makes a match full: without it the claim is not rechecked.
  const { trust, ...claimed } = evidence;
  return {
    ...files,
    evidence: isProven === true ? { ...claimed, ...(trust && { trust }) } : claimed,
  };
}

function filesOfContract(
  facts: DeliveredFacts,
  sources: readonly Source[],
): Pick<ContractFolder, 'files' | 'sources'> {
  const files = new Map<string, FileReader>();
  const sourceFiles = new Map<string, FileReader>();
  for (const { path, content } of filesOf(sectionsOf(facts, sources))) {
    const bytes = Buffer.from(content);
    const reader: FileReader = (subject, maxBytes) =>
      bytes.length <= maxBytes
        ? Promise.resolve(bytes)
        : Promise.reject(new Refusal('file_too_large', subject));
    if (path.startsWith('sources/')) sourceFiles.set(path.slice('sources/'.length), reader);
    else files.set(path, reader);
  }
  return { files, sources: sourceFiles };
}

/** The metadata as the compiler wrote it; null if it was not delivered and cannot be derived. */
function metadataOf(
  facts: DeliveredFacts,
  sources: readonly Source[],
  isFull: boolean,
  isOnChain: boolean,
  isRewritten: boolean,
): string | null {
  const { metadata, recompiled } = facts;
  if (metadata === null || metadata === 'null') {
    return isFull ? findMetadata(facts, sources, isOnChain) : null;
  }
  return isRewritten ? restoreMetadata(metadata, recompiled) : metadata;
}

/** Derives missing metadata and accepts it only if the bytecode contains its hash. */
function findMetadata(
  facts: DeliveredFacts,
  sources: readonly Source[],
  isOnChain: boolean,
): string | null {
  const code = (isOnChain ? facts.on_chain : null) ?? facts.recompiled;
  if (code === null || facts.language !== 'solidity') return null;
  const derived = deriveMetadata({
    version: facts.version,
    fullyQualifiedName: facts.fully_qualified_name,
    settings: parseMembers(facts.settings),
    artifacts: parseMembers(facts.artifacts),
    sources,
  });
  try {
    for (const metadata of derived) if (containsHashOf(code, metadata) === true) return metadata;
  } catch (error) {
    // JSON nested too deeply to parse cannot be a compiler's output.
    if (!(error instanceof RangeError)) throw error;
  }
  return null;
}

/** Builds the files of the published tree. Bytecode is a claim: it was not read from a chain here. */
function sectionsOf(facts: DeliveredFacts, sources: readonly Source[]): Partial<ContractSections> {
  const { language, compiler, version, name, fully_qualified_name: fullyQualifiedName } = facts;
  return {
    metadata: facts.metadata,
    compilation: {
      ...{ language, compiler, version, name, fullyQualifiedName },
      settings: parseMembers(facts.settings),
    },
    artifacts: parseMembers(facts.artifacts),
    sources,
    sourceSizes: sources.map(({ path, content }) => ({ path, bytes: Buffer.byteLength(content) })),
    deployment: isTransactionHash(facts.transaction_hash ?? '')
      ? { transactionHash: facts.transaction_hash as `0x${string}` }
      : {},
    creationCode: { values: parseMembers(facts.creation_values) },
    runtimeCode: {
      values: parseMembers(facts.runtime_values),
      artifacts: parseMembers(facts.runtime_artifacts),
    },
  };
}

function deliveredRow(
  address: string,
  facts: DeliveredFacts,
  matches: DeliveredMatches,
): DeliveredRow {
  const { block_number: block, transaction_index: index, deployer } = facts;
  const isCount = (value: number | null): value is number =>
    Number.isSafeInteger(value) && (value ?? -1) >= 0;
  return {
    address: address as Hex,
    runtime: {
      match: matches.runtime,
      onChain: facts.on_chain,
      recompiled: facts.recompiled,
      artifacts: facts.runtime_artifacts,
      transformations: facts.runtime_transformations,
      values: facts.runtime_values,
    },
    creation: {
      match: matches.creation,
      ...(facts.has_creation && { onChain: facts.creation_on_chain }),
      recompiled: facts.recompiled_creation,
      artifacts: facts.creation_artifacts,
      transformations: facts.creation_transformations,
      values: facts.creation_values,
    },
    settings: facts.settings,
    artifacts: facts.artifacts,
    additionalInput: facts.additional_input,
    ...(block === GENESIS_BLOCK && { blockNumber: block }),
    ...(isCount(block) && { blockNumber: block }),
    ...(isCount(index) && { transactionIndex: index }),
    ...(deployer !== null && parseAddress(deployer) !== undefined && { deployer }),
  };
}

/**
 * Whether the runtime bytecode on chain contains the hash of the metadata, which every full match of Solidity
 * requires; undefined if that cannot be compared, or the hash was put there by a transformation. Creation
 * bytecode contains the same hash, but at no known place, and bytes of the constructor arguments could imitate it.
 */
function containsMetadataHash(facts: DeliveredFacts): boolean | undefined {
  const { on_chain: onChain, recompiled, metadata } = facts;
  if (onChain === null || metadata === null || !isSolidity(facts)) return undefined;
  if (containsHashOf(onChain, metadata) !== true) return false;
  return recompiled !== null && haveSameMetadataHash(onChain, recompiled) ? true : undefined;
}

/** Whether the row or its metadata names Solidity: the contract is stored with the language of the metadata. */
function isSolidity({ language, metadata }: DeliveredFacts): boolean {
  if (language === 'solidity' || metadata === null) return language === 'solidity';
  // Metadata that is not JSON is refused when it is read.
  return membersOf(parseJson(metadata))['language'] === 'Solidity';
}

function parseMembers(text: string | null): Members {
  return membersOf(parseRowJson(text ?? 'null'));
}

/**
 * Required text columns, which an export may still omit.
 * @throws Refusal `broken_row`
 */
function requireTexts(facts: DeliveredFacts): void {
  const { language, compiler, version, name, fully_qualified_name: fullName } = facts;
  const texts: readonly unknown[] = [language, compiler, version, name, fullName];
  if (texts.every((text) => typeof text === 'string')) return;
  throw new Refusal('broken_row', 'compiled_contracts');
}
