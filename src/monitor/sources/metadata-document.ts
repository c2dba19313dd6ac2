import { isUtf8 } from 'node:buffer';
import { type Hex } from '../../lib/hex.ts';
import {
  isBoundedName,
  isPathWithinLimits,
  MAX_NAME_BYTES,
  PATH_BOUNDS,
} from '../../lib/source-path.ts';
import { isStorableText } from '../../lib/storable-text.ts';
import { JsonFault, parseUntrustedJson } from '../../lib/untrusted-json.ts';
import { type ListedSource, MetadataFault, readMetadata } from '../../solidity/metadata.ts';
import { ContentFault } from './content-fault.ts';
import { type SourceLimits } from './source-limits.ts';

/** A source with the hash listed in the metadata. */
export interface HashedSource extends ListedSource {
  /** Lower-case hex. */
  readonly keccak256: Hex;
}

interface MetadataDocument {
  /** The parsed document. */
  readonly metadata: unknown;
  /** Not empty; includes the source of the target contract. */
  readonly sources: readonly HashedSource[];
}

const KECCAK256 = /^0x[0-9a-f]{64}$/;

function malformed(message: string): ContentFault {
  return new ContentFault('malformed', message);
}

function parse(bytes: Buffer, limits: SourceLimits): unknown {
  if (!isUtf8(bytes)) throw malformed('The metadata is not UTF-8.');
  const { jsonDepth: depth, jsonValues: values, jsonEscapes: escapes } = limits;
  try {
    return parseUntrustedJson(bytes, { depth, values, escapes });
  } catch (error) {
    if (error instanceof JsonFault)
      throw malformed(`The metadata cannot be read. ${error.message}`);
    throw error;
  }
}

function hashedSource(source: ListedSource): HashedSource {
  if (!isPathWithinLimits(source.path))
    throw malformed(`A source's path is too long (${PATH_BOUNDS}).`);
  if (!isStorableText(source.path)) throw malformed("A source's path is not well-formed text.");
  const { keccak256 } = source;
  if (keccak256 === undefined || !KECCAK256.test(keccak256)) {
    throw malformed('A source has no keccak256 of 32 bytes.');
  }
  return { ...source, keccak256: keccak256 as Hex };
}

/**
 * Parses a metadata document as strictly as a submitted or imported one.
 * @throws ContentFault `malformed`
 */
export function readMetadataDocument(bytes: Buffer, limits: SourceLimits): MetadataDocument {
  const metadata = parse(bytes, limits);
  let read;
  try {
    read = readMetadata(metadata);
  } catch (error) {
    if (error instanceof MetadataFault) throw malformed(error.message);
    throw error;
  }
  if (read.sources.length > limits.sources) {
    throw malformed(`The metadata lists more than ${limits.sources} sources.`);
  }
  const { path, name } = read.target;
  if (!isBoundedName(name)) {
    throw malformed(`The contract's name is longer than ${MAX_NAME_BYTES} bytes.`);
  }
  const sources = read.sources.map(hashedSource);
  if (!sources.some((source) => source.path === path)) {
    throw malformed('settings.compilationTarget names a path that is not among the sources.');
  }
  return { metadata, sources };
}
