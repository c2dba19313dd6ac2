import { ContentFault } from '../content-fault.ts';
import { type Spending } from '../gateways/spending.ts';
import { type Pauses } from '../../../lib/pauses.ts';
import { type BlockCid, keyOfCid } from './cid.ts';
import { type FileNode, readFileNode } from './unixfs-node.ts';

/** Gives blocks whose hash it has checked. */
export interface BlockSource {
  /**
   * @param limitBytes how long the file may be that the block is a part of
   * @throws ContentFault `unavailable`
   */
  getBlock(cid: BlockCid, limitBytes: number): Promise<Uint8Array>;
}

/** No writer of files nests deeper than a few levels: 174 links in each of 4 nodes hold 240 terabytes. */
const MOST_DEPTH = 32;
/** Visits of blocks: a node may link one block many times, and blocks may be empty. */
const MOST_VISITS = 8192;

/** What reading the files of one search goes through. */
interface FileParts {
  readonly blocks: BlockSource;
  readonly spending: Pick<Spending, 'takeStep' | 'takeFileBytes'>;
  readonly pauses: Pauses;
}

/** The nodes of one search by codec and hash: a block is parsed once, however many files and links name it. */
class FileNodes {
  readonly #parts: FileParts;
  /** Nodes, and why blocks are none. */
  readonly #known = new Map<string, FileNode | ContentFault>();

  constructor(parts: FileParts) {
    this.#parts = parts;
  }

  /** @throws ContentFault */
  async get(cid: BlockCid, limitBytes: number): Promise<FileNode> {
    const key = keyOfCid(cid);
    const node = this.#known.get(key) ?? (await this.#read(cid, key, limitBytes));
    if (node instanceof ContentFault) throw node;
    return node;
  }

  async #read(cid: BlockCid, key: string, limitBytes: number): Promise<FileNode | ContentFault> {
    const bytes = await this.#parts.blocks.getBlock(cid, limitBytes);
    await this.#parts.pauses.take();
    // Another file may have come before.
    const node = this.#known.get(key) ?? this.#parse(cid, bytes);
    this.#known.set(key, node);
    return node;
  }

  #parse(cid: BlockCid, bytes: Uint8Array): FileNode | ContentFault {
    try {
      return readFileNode(cid, bytes, () => this.#parts.spending.takeStep());
    } catch (error) {
      if (error instanceof ContentFault) return error;
      throw error;
    }
  }
}

class FileReader {
  readonly #files: FileParts;
  readonly #nodes: FileNodes;
  readonly #limitBytes: number;
  readonly #parts: Uint8Array[] = [];
  #visits = 0;

  constructor(files: FileParts, nodes: FileNodes, limitBytes: number) {
    this.#files = files;
    this.#nodes = nodes;
    this.#limitBytes = limitBytes;
  }

  async read(cid: BlockCid): Promise<Buffer> {
    await this.#visit(cid, undefined, 1);
    return Buffer.concat(this.#parts);
  }

  /** Adds what is in the block and below it. A block is as long as its parent says, so none is too long in sum. */
  async #visit(cid: BlockCid, stated: number | undefined, depth: number): Promise<void> {
    const { spending, pauses } = this.#files;
    await pauses.take();
    spending.takeStep();
    this.#visits += 1;
    if (this.#visits > MOST_VISITS) {
      throw new ContentFault('too_large', `A file has more than ${MOST_VISITS} blocks.`);
    }
    if (depth > MOST_DEPTH) {
      throw new ContentFault('malformed', `A file nests deeper than ${MOST_DEPTH} levels.`);
    }
    const { data, links, fileBytes } = await this.#nodes.get(cid, this.#limitBytes);
    if (fileBytes > this.#limitBytes) {
      throw new ContentFault('too_large', `A file has more than ${this.#limitBytes} bytes.`);
    }
    if (stated !== undefined && fileBytes !== stated) {
      throw new ContentFault(
        'malformed',
        'A block of a file does not have the length its parent gives.',
      );
    }
    spending.takeFileBytes(data.length);
    this.#parts.push(data);
    for (const link of links) await this.#visit(link.cid, link.fileBytes, depth + 1);
  }
}

/** The files in IPFS of one search, from blocks that were checked. */
export class IpfsFiles {
  readonly #parts: FileParts;
  readonly #nodes: FileNodes;

  constructor(parts: FileParts) {
    this.#parts = parts;
    this.#nodes = new FileNodes(parts);
  }

  /**
   * The bytes of a file: as much as `limitBytes`, counted before blocks are read.
   * @throws ContentFault `malformed`, `too_large`, and what the source of blocks throws
   */
  read(cid: BlockCid, limitBytes: number): Promise<Buffer> {
    return new FileReader(this.#parts, this.#nodes, limitBytes).read(cid);
  }
}
