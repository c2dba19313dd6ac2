import { ContentFault } from '../content-fault.ts';
import { readCid, type BlockCid } from './cid.ts';
import { ProtobufFault, readFields, readVarint } from './protobuf-fields.ts';

/** A link to a child block, with the number of file bytes in and below it. */
interface FileLink {
  readonly cid: BlockCid;
  readonly fileBytes: number;
}

/** A file node: its own bytes come first, then those of its links in order. */
export interface FileNode {
  readonly data: Uint8Array;
  readonly links: readonly FileLink[];
  /** Number of file bytes in and below this node. */
  readonly fileBytes: number;
}

/** Limit on links per node; tools write 174 or 1,024. */
const MAX_LINKS = 4096;
const NO_BYTES = new Uint8Array(0);

/** Fields of PBNode and PBLink (https://ipld.io/specs/codecs/dag-pb/spec/). */
const NODE = { data: 1, link: 2 } as const;
const LINK = { hash: 1, name: 2, blockBytes: 3 } as const;
const LINK_FIELDS: ReadonlySet<number> = new Set(Object.values(LINK));
/** Fields and types of UnixFS (https://specs.ipfs.tech/unixfs/). */
const FILE = { type: 1, data: 2, fileBytes: 3, blockBytes: 4 } as const;
const FILE_TYPES: ReadonlySet<unknown> = new Set([0, 2]);

function malformed(what: string): ContentFault {
  return new ContentFault('malformed', `A block is not a part of a file: ${what}.`);
}

function bytesOf(value: number | Uint8Array | undefined, what: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw malformed(what);
}

/** Each field of a link occurs at most once. */
function readLink(bytes: Uint8Array, takeStep: () => void): BlockCid {
  let hash: Uint8Array | undefined;
  const seen = new Set<number>();
  for (const { number, value } of readFields(bytes, takeStep)) {
    if (seen.has(number) || !LINK_FIELDS.has(number)) throw malformed('a link is wrong');
    seen.add(number);
    if (number === LINK.hash) hash = bytesOf(value, 'a link has no CID');
  }
  const read = hash && readCid(hash);
  if (read === undefined || read.length !== hash?.length) throw malformed('a link has no CID');
  if (read.cid === undefined) throw malformed('a link has a CID that cannot be checked');
  return read.cid;
}

function readNode(
  bytes: Uint8Array,
  takeStep: () => void,
): { data: Uint8Array; cids: readonly BlockCid[] } {
  let data: Uint8Array | undefined;
  const cids: BlockCid[] = [];
  for (const { number, value } of readFields(bytes, takeStep)) {
    if (number === NODE.data && data === undefined) data = bytesOf(value, 'its data are wrong');
    else if (number === NODE.link) cids.push(readLink(bytesOf(value, 'a link is wrong'), takeStep));
    else throw malformed('it has an unknown field');
    if (cids.length > MAX_LINKS) throw malformed(`it has more than ${MAX_LINKS} links`);
  }
  if (data === undefined) throw malformed('it has no data');
  return { data, cids };
}

/** Reads the sizes of child blocks: single numbers, or many packed into one field. */
function addLengths(lengths: number[], value: number | Uint8Array, most: number): void {
  if (typeof value === 'number') lengths.push(value);
  else {
    for (let offset = 0; offset < value.length && lengths.length <= most;) {
      const read = readVarint(value, offset);
      lengths.push(read.value);
      offset = read.end;
    }
  }
  if (lengths.length > most) throw malformed('it has lengths of missing blocks');
}

function readFile(bytes: Uint8Array, cids: readonly BlockCid[], takeStep: () => void): FileNode {
  let type: unknown;
  let data: Uint8Array | undefined;
  let stated: number | undefined;
  const lengths: number[] = [];
  for (const { number, value } of readFields(bytes, takeStep)) {
    if (number === FILE.type) type = value;
    else if (number === FILE.data) data = bytesOf(value, 'its content is wrong');
    else if (number === FILE.fileBytes && typeof value === 'number') stated = value;
    else if (number === FILE.blockBytes) addLengths(lengths, value, cids.length);
  }
  if (!FILE_TYPES.has(type)) throw malformed('it is a folder, a link or something else');
  if (lengths.length !== cids.length) throw malformed('it does not give the lengths of its blocks');
  const own = data ?? NO_BYTES;
  const fileBytes = lengths.reduce((sum, length) => sum + length, own.length);
  if (!Number.isSafeInteger(fileBytes) || (stated ?? fileBytes) !== fileBytes) {
    throw malformed('its length is not that of its parts');
  }
  const links = cids.map((cid, index) => ({ cid, fileBytes: lengths[index] ?? 0 }));
  return { data: own, links, fileBytes };
}

/**
 * Parses a block of a file: raw bytes, or a UnixFS node in dag-pb.
 * @param takeStep counts each field before it is read, and throws if there are too many in total
 * @throws ContentFault `malformed`; errors of `takeStep`
 */
export function readFileNode(
  { codec }: BlockCid,
  bytes: Uint8Array,
  takeStep: () => void,
): FileNode {
  if (codec === 'raw') return { data: bytes, links: [], fileBytes: bytes.length };
  try {
    const { data, cids } = readNode(bytes, takeStep);
    return readFile(data, cids, takeStep);
  } catch (error) {
    if (error instanceof ProtobufFault) throw malformed(error.message);
    throw error;
  }
}
