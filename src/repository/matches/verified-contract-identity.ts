import { hash } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { type Compilation, type Source, type VerifiedContract } from './verified-contract.ts';

/** The SHA-256 hash, 32 bytes: the key of stored codes, sources and metadata. */
export function sha256(content: Uint8Array | string): Buffer {
  return hash('sha256', content, 'buffer');
}

/** Codes are hashed for several columns and ids; nobody writes into one. */
const codeHashes = new WeakMap<Uint8Array, Buffer>();

/** The hash of a code or text that may be absent. */
export function hashOf(content: Uint8Array | string | undefined): Buffer | null {
  if (content === undefined) return null;
  if (typeof content === 'string') return sha256(content);
  const known = codeHashes.get(content);
  if (known !== undefined) return known;
  const made = sha256(content);
  codeHashes.set(content, made);
  return made;
}

/** The SHA-256 of each source that somebody hashed: a compilation's sources are hashed for its id and for several rows. */
const sourceHashes = new WeakMap<Source, Buffer>();

/** Notes the hash of a source, by whoever has made it already. */
export function noteSourceHash(source: Source, hash: Buffer): void {
  sourceHashes.set(source, hash);
}

/** The SHA-256 of a source's text. */
export function sourceHash(source: Source): Buffer {
  const hash = sourceHashes.get(source) ?? sha256(source.content);
  sourceHashes.set(source, hash);
  return hash;
}

/**
 * A UUID (RFC 9562, version 8) made from what tells a row apart. Equal rows get equal ids in every process,
 * so that a writer knows the id of a row that another writer stored, without asking.
 */
function deriveUuid(identity: unknown): string {
  const bytes = sha256(canonicalJson(identity)).subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}

const orNull = (hash: Buffer | null): string | null => (hash === null ? null : bytesToHex(hash));

/** The id of the pair of codes that a deployment runs, or undefined where neither code is known. */
export function codePairId({ creationCode, runtimeCode }: CodePair): string | undefined {
  if (creationCode === undefined && runtimeCode === undefined) return undefined;
  return deriveUuid([
    'contract',
    creationCode === null ? '0x' : orNull(hashOf(creationCode)),
    orNull(hashOf(runtimeCode)),
  ]);
}

/** The codes of a deployment, as they were read or as an import says them. */
export interface CodePair {
  readonly runtimeCode?: Uint8Array;
  readonly creationCode?: Uint8Array | null;
}

/** The hash of a code in its row; of the code without content, as the Verifier Alliance has it, no byte. */
export function codeHashOf(code: Uint8Array | null | undefined): Buffer | null {
  return code === null ? Buffer.alloc(0) : hashOf(code);
}

/** The id of a deployment: chain, address, creation transaction and codes tell it apart, claimed codes too. */
export function deploymentId({
  chainId,
  address,
  deployment,
}: Pick<VerifiedContract, 'chainId' | 'address' | 'deployment'>): string {
  const claimedPair = deployment.claimed && codePairId(deployment.claimed);
  return deriveUuid([
    'deployment',
    chainId,
    address,
    deployment.transactionHash ?? null,
    codePairId(deployment) ?? null,
    ...(claimedPair === undefined ? [] : [claimedPair]),
  ]);
}

const compilationIds = new WeakMap<Compilation, string>();

/**
 * The id of a compilation: a hash of all that is published of it, so that a compilation never changes. The same code
 * with another file, name or setting is another compilation.
 */
export function compilationId(compilation: Compilation): string {
  const known = compilationIds.get(compilation);
  if (known !== undefined) return known;
  const { sources, creationCode, runtimeCode, metadata, ...published } = compilation;
  const id = deriveUuid([
    'compilation of sources',
    { ...published, hasUnlistedSources: undefined, immutableTypes: undefined },
    orNull(hashOf(creationCode)),
    orNull(hashOf(runtimeCode)),
    orNull(hashOf(metadata)),
    Object.fromEntries(sources.map((source) => [source.path, bytesToHex(sourceHash(source))])),
  ]);
  compilationIds.set(compilation, id);
  return id;
}

/**
 * What tells the text of a compilation apart from others that give the same code: the SHA-256 of the metadata, whose
 * hashes prove every source, or of the compilation's id where no metadata lists all of them.
 */
export function textHash(compilation: Compilation): Buffer {
  const { metadata, hasUnlistedSources } = compilation;
  return metadata === undefined || hasUnlistedSources === true
    ? sha256(compilationId(compilation))
    : sha256(metadata);
}
