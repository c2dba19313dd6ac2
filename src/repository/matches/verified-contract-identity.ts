import { hash } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { type Compilation, type Source, type VerifiedContract } from './verified-contract.ts';

/** SHA-256, 32 bytes: the key of stored bytecode, sources and metadata. */
export function sha256(content: Uint8Array | string): Buffer {
  return hash('sha256', content, 'buffer');
}

/** Bytecode is hashed for several columns and ids; the buffer must not be modified. */
const codeHashes = new WeakMap<Uint8Array, Buffer>();

/** Hash of a bytecode or text that may be absent. */
export function hashOf(content: Uint8Array | string | undefined): Buffer | null {
  if (content === undefined) return null;
  if (typeof content === 'string') return sha256(content);
  const known = codeHashes.get(content);
  if (known !== undefined) return known;
  const made = sha256(content);
  codeHashes.set(content, made);
  return made;
}

/** SHA-256 of each source hashed so far: a compilation's sources are hashed for its id and for several rows. */
const sourceHashes = new WeakMap<Source, Buffer>();

/** Caches the hash of a source that the caller has computed. */
export function cacheSourceHash(source: Source, hash: Buffer): void {
  sourceHashes.set(source, hash);
}

/** SHA-256 of a source's text. */
export function sourceHash(source: Source): Buffer {
  const hash = sourceHashes.get(source) ?? sha256(source.content);
  sourceHashes.set(source, hash);
  return hash;
}

/**
 * Derives a UUID (RFC 9562, version 8) from a row's key. Equal rows get equal ids in every process, so a
 * writer knows the id of a row that another writer stored, without a query.
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

/** Id of the pair of bytecodes of a deployment, or undefined if neither is known. */
export function codePairId({ creationCode, runtimeCode }: CodePair): string | undefined {
  if (creationCode === undefined && runtimeCode === undefined) return undefined;
  return deriveUuid([
    'contract',
    creationCode === null ? '0x' : orNull(hashOf(creationCode)),
    orNull(hashOf(runtimeCode)),
  ]);
}

/** Bytecodes of a deployment, as read or as claimed by an import. */
export interface CodePair {
  readonly runtimeCode?: Uint8Array;
  readonly creationCode?: Uint8Array | null;
}

/** Hash of a bytecode in its row; the empty bytecode has zero bytes, as in the Verifier Alliance schema. */
export function codeHashOf(code: Uint8Array | null | undefined): Buffer | null {
  return code === null ? Buffer.alloc(0) : hashOf(code);
}

/** Id of a deployment: chain, address, creation transaction and bytecode distinguish it, including claimed bytecode. */
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
 * Id of a compilation: a hash of everything published about it, so that a compilation never changes. The same
 * bytecode with another file, name or setting is another compilation.
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
 * Distinguishes texts that compile to the same bytecode: the SHA-256 of the metadata, whose hashes prove
 * every source, or of the compilation's id if no metadata lists all of them.
 */
export function textHash(compilation: Compilation): Buffer {
  const { metadata, hasUnlistedSources } = compilation;
  return metadata === undefined || hasUnlistedSources === true
    ? sha256(compilationId(compilation))
    : sha256(metadata);
}
