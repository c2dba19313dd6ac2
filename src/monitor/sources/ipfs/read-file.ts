import { ContentFault } from '../content-fault.ts';
import { type SearchBudget } from '../gateways/search-budget.ts';
import { type EventLoopYielder } from '../../../lib/event-loop-yielder.ts';
import { type BlockCid, keyOfCid } from './cid.ts';
import { type FileNode, readFileNode } from './unixfs-node.ts';

/** Provides blocks with verified hashes. */
export interface BlockSource {
  /**
   * @param limitBytes size limit of the file that contains the block
   * @throws ContentFault `unavailable`
   */
  getBlock(cid: BlockCid, limitBytes: number): Promise<Uint8Array>;
}

/** No tool nests files deeper than a few levels: 4 levels with 174 links per node already hold 240 terabytes. */
const MAX_DEPTH = 32;
/** Limit on block visits: a node may link one block many times, and blocks may be empty. */
const MAX_VISITS = 8192;

/** Dependencies for reading the files of one search. */
interface FileParts {
  readonly blocks: BlockSource;
  readonly spending: Pick<SearchBudget, 'takeStep' | 'takeFileBytes'>;
  readonly pauses: EventLoopYielder;
}

/** Nodes of one search by codec and hash: each block is parsed once, however many files and links refer to it. */
class FileNodes {
  readonly #parts: FileParts;
  /** Parsed nodes, or why a block is not a valid node. */
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
    // Another file may have parsed it meanwhile.
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

  /**
   * Appends the bytes of a block and of those below it. Each block must have the size stated by its parent,
   * so the total cannot exceed the limit.
   */
  async #visit(cid: BlockCid, stated: number | undefined, depth: number): Promise<void> {
    const { spending, pauses } = this.#files;
    await pauses.take();
    spending.takeStep();
    this.#visits += 1;
    if (this.#visits > MAX_VISITS) {
      throw new ContentFault('too_large', `A file has more than ${MAX_VISITS} blocks.`);
    }
    if (depth > MAX_DEPTH) {
      throw new ContentFault('malformed', `A file nests deeper than ${MAX_DEPTH} levels.`);
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

/** Reads the IPFS files of one search from verified blocks. */
export class IpfsFiles {
  readonly #parts: FileParts;
  readonly #nodes: FileNodes;

  constructor(parts: FileParts) {
    this.#parts = parts;
    this.#nodes = new FileNodes(parts);
  }

  /**
   * Reads a file of at most `limitBytes`, which is checked before blocks are read.
   * @throws ContentFault `malformed`, `too_large`, and errors of the block source
   */
  read(cid: BlockCid, limitBytes: number): Promise<Buffer> {
    return new FileReader(this.#parts, this.#nodes, limitBytes).read(cid);
  }
}
