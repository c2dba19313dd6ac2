import { type Hex } from '../lib/hex.ts';
import type { Match, VerifiedContract } from '../repository/repository.ts';
import { toInputSettings } from '../solidity/metadata.ts';
import { type ContentHasher } from './content-hash.ts';
import { type ContractFolder } from './contract-folder.ts';
import { type DeliveredContract, toContractFolder } from './delivered-contract.ts';
import { ReadBudget, SourceFinder } from './find-sources.ts';
import { type ImportLimits } from './import-limits.ts';
import { parseMetadata } from './parse-metadata.ts';
import { withLiteralContent, withProvenSettings } from './proven-settings.ts';
import { Refusal } from './refusal.ts';
import { placeFacts, readStoredFacts } from './stored-facts.ts';

const METADATA_FILE = 'metadata.json';
/** A compilation without metadata, in the form of metadata. */
const COMPILATION_FILE = 'compilation.json';

/** Position of a contract in the tree, and what its path states. */
export interface ContractLocation {
  readonly match: Match;
  readonly chainId: number;
  /** Lower-case hex, 20 bytes. */
  readonly address: Hex;
  /**
   * Lists the contract's files, or the rows that another service has of it.
   * @throws Refusal `symlink`, `special_file`, `too_many_files`, `unreadable`
   */
  readonly list: (limits: ImportLimits) => Promise<ContractFolder | DeliveredContract>;
  /**
   * The contract's folder, in which any thread finds the same files; if absent, `list` must be called in the
   * thread that created it.
   */
  readonly folder?: string;
  /** Bytes of files held in memory until the contract is read, for archives. */
  readonly heldBytes?: number;
  /** The folder relative to the tree's root, spelled as found and unescaped. */
  readonly path: string;
}

/** A contract read from a tree, and its size in bytes of text. */
export interface ReadContract {
  readonly location: ContractLocation;
  /** The match found: that of the location, or a lower one. */
  readonly match: Match;
  readonly contract: VerifiedContract;
  readonly bytes: number;
}

/**
 * Reads a contract's folder in layout V1 or V2 and checks every source against the metadata. The tree's match
 * counts as the runtime match: a tree does not tell which bytecode was compared, and every match includes the
 * runtime one.
 * @param source recorded with the match
 * @throws Refusal
 */
export async function readContract(
  location: ContractLocation,
  limits: ImportLimits,
  hasher: ContentHasher,
  source?: string,
): Promise<ReadContract> {
  const found = await location.list(limits);
  const folder = 'facts' in found ? toContractFolder(found, limits) : found;
  const file = folder.files.has(METADATA_FILE) ? METADATA_FILE : COMPILATION_FILE;
  const readMetadata = folder.files.get(file);
  if (readMetadata === undefined) throw new Refusal('missing_metadata', METADATA_FILE);
  const budget = new ReadBudget(limits.contractBytes);
  const bytes = await readMetadata(file, limits.metadataBytes);
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
  const isLiteral = language === 'solidity' && listed.some(({ content }) => content !== undefined);
  const inputSettings = withLiteralContent(toInputSettings(settings, version), isLiteral);
  if (listed.length > limits.sources) {
    const more = `it lists ${listed.length} sources, more than the limit of ${limits.sources}`;
    throw new Refusal('too_many_files', file, more);
  }
  const sources = await new SourceFinder(folder, limits, budget, hasher).find(listed);
  const facts = placeFacts(await readStoredFacts(folder, limits, budget), sources);
  const { deployment, runtimeCodeArtifacts, ...transformed } = facts;
  const { chainId, address } = location;
  const match = folder.match ?? location.match;
  const { evidence } = folder;
  const contract: VerifiedContract = {
    chainId,
    address,
    runtimeMatch: evidence?.runtimeMatch ?? match,
    creationMatch: evidence?.creationMatch ?? null,
    origin: 'imported',
    ...(evidence?.trust && { trust: evidence.trust }),
    ...(source !== undefined && { source }),
    deployment: { ...deployment, ...(evidence && { claimed: evidence.claimed }) },
    compilation: {
      language,
      compiler,
      version,
      name: target.name,
      fullyQualifiedName: `${target.path}:${target.name}`,
      settings: inputSettings,
      artifacts,
      ...(file === METADATA_FILE && { metadata: text }),
      ...(runtimeCodeArtifacts !== undefined && { runtimeCodeArtifacts }),
      sources,
      ...evidence?.compilation,
      // The metadata is bound to the code by its hash, and the columns of a row are not.
      ...(evidence && { artifacts: { ...evidence.compilation.artifacts, ...artifacts } }),
      ...(evidence &&
        language === 'solidity' &&
        file === METADATA_FILE &&
        match === 'full' && {
          settings: withProvenSettings(evidence.compilation.settings, inputSettings),
        }),
    },
    ...transformed,
    ...evidence?.transformed,
  };
  const textBytes = sources.reduce((sum, { content }) => sum + content.length, bytes.length);
  return { location, match, contract, bytes: textBytes + (evidence?.bytes ?? 0) };
}
