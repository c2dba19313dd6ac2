import { type Hex } from '../lib/hex.ts';
import type { Match, VerifiedContract } from '../repository/repository.ts';
import { type ContentHasher } from './content-hash.ts';
import { listContractFolder, readRegularFile } from './contract-folder.ts';
import { ReadBudget, SourceFinder } from './find-sources.ts';
import { type ImportLimits } from './import-limits.ts';
import { parseMetadata } from './parse-metadata.ts';
import { Refusal } from './refusal.ts';
import { placeFacts, readStoredFacts } from './stored-facts.ts';

const METADATA_FILE = 'metadata.json';
/** What a tree has of a compilation without metadata, in the form of metadata. */
const COMPILATION_FILE = 'compilation.json';

/** Where a contract lies in the tree, and what the path says about it. */
export interface ContractLocation {
  readonly match: Match;
  readonly chainId: number;
  /** Lower-case hex, 20 bytes. */
  readonly address: Hex;
  /** The folder on disk. */
  readonly folder: string;
  /** The folder relative to the tree's root, as it is spelled; unescaped. */
  readonly path: string;
}

/** A contract read from a tree, and how many bytes of text it holds. */
export interface ReadContract {
  readonly location: ContractLocation;
  readonly contract: VerifiedContract;
  readonly bytes: number;
}

/**
 * Reads one contract's folder in layout V1 or V2 and checks every source against the metadata.
 * The tree's match is the runtime match: a tree does not say which of the two codes was compared,
 * and the runtime code is what every match of it was judged on.
 * @throws Refusal
 */
export async function readContract(
  location: ContractLocation,
  limits: ImportLimits,
  hasher: ContentHasher,
): Promise<ReadContract> {
  const folder = await listContractFolder(location.folder, limits);
  const file = folder.files.has(METADATA_FILE) ? METADATA_FILE : COMPILATION_FILE;
  const metadataPath = folder.files.get(file);
  if (metadataPath === undefined) throw new Refusal('missing_metadata', METADATA_FILE);
  const budget = new ReadBudget(limits.contractBytes);
  const bytes = await readRegularFile(metadataPath, file, limits.metadataBytes);
  budget.take(bytes.length, file);
  const {
    text,
    language,
    compiler,
    version,
    target,
    settings,
    artifacts,
    sources: listed,
  } = parseMetadata(bytes);
  if (listed.length > limits.sources) {
    const more = `it lists ${listed.length} sources, more than the limit of ${limits.sources}`;
    throw new Refusal('too_many_files', file, more);
  }
  const sources = await new SourceFinder(folder, limits, budget, hasher).find(listed);
  const facts = placeFacts(await readStoredFacts(folder, limits, budget), sources);
  const { deployment, runtimeCodeArtifacts, ...transformed } = facts;
  const { chainId, address, match } = location;
  const contract: VerifiedContract = {
    chainId,
    address,
    runtimeMatch: match,
    creationMatch: null,
    origin: 'imported',
    deployment,
    compilation: {
      language,
      compiler,
      version,
      name: target.name,
      fullyQualifiedName: `${target.path}:${target.name}`,
      settings,
      artifacts,
      ...(file === METADATA_FILE && { metadata: text }),
      ...(runtimeCodeArtifacts !== undefined && { runtimeCodeArtifacts }),
      sources,
    },
    ...transformed,
  };
  const textBytes = sources.reduce((sum, { content }) => sum + content.length, bytes.length);
  return { location, contract, bytes: textBytes };
}
