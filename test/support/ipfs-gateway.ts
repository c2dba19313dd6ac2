import { createHash } from 'node:crypto';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { CarWriter } from '@ipld/car';
import { code as DAG_PB, createLink, createNode, decode, encode } from '@ipld/dag-pb';
import { UnixFS } from 'ipfs-unixfs';
import { CID } from 'multiformats/cid';
import * as digests from 'multiformats/hashes/digest';
import { startWebServer, type WebServer } from './web-server.ts';

/** How a file is split into blocks. The defaults are those of solc's metadata hash and of `ipfs add`. */
export interface FileLayout {
  readonly chunkBytes?: number;
  readonly links?: number;
  /** Raw leaves and CIDv1: as with `ipfs add --cid-version 1`. */
  readonly rawLeaves?: boolean;
}

const RAW = 0x55;
const SHA2_256 = 0x12;

/** Blocks by CID, created with the IPFS libraries. */
export class IpfsStore {
  /** By hash in hex: a block has one hash and may have two CIDs. */
  readonly blocks = new Map<string, Uint8Array>();
  /** Bytes of a node and of all blocks below, by CID. */
  readonly #sizes = new Map<string, number>();

  get(cid: CID): Uint8Array | undefined {
    return this.blocks.get(Buffer.from(cid.multihash.digest).toString('hex'));
  }

  /** Stores bytes as a block, valid or not. */
  addBlock(bytes: Uint8Array, codec: 'dag-pb' | 'raw' = 'dag-pb', version: 0 | 1 = 1): CID {
    const hash = createHash('sha256').update(bytes).digest();
    this.blocks.set(hash.toString('hex'), bytes);
    const digest = digests.create(SHA2_256, hash);
    if (version === 0) return CID.createV0(digest);
    return CID.createV1(codec === 'raw' ? RAW : DAG_PB, digest);
  }

  /** Stores a file node: its own bytes, and links to blocks with their file sizes. */
  addNode(
    links: readonly { readonly cid: CID; readonly fileBytes: number }[],
    {
      data,
      version = 0,
      type = 'file',
    }: { data?: Uint8Array; version?: 0 | 1; type?: string } = {},
  ): CID {
    const file = new UnixFS({ type, ...(data && { data }) } as ConstructorParameters<
      typeof UnixFS
    >[0]);
    for (const { fileBytes } of links) file.addBlockSize(BigInt(fileBytes));
    const node = createNode(
      file.marshal(),
      links.map(({ cid }) => createLink('', this.#bytesBelow(cid), cid)),
    );
    const block = encode(node);
    const cid = this.addBlock(block, 'dag-pb', version);
    const below = node.Links.reduce((sum, { Tsize = 0 }) => sum + Tsize, 0);
    this.#sizes.set(String(cid), block.length + below);
    return cid;
  }

  /** Stores a file and returns its CID. */
  addFile(
    bytes: Uint8Array,
    { chunkBytes = 256 * 1024, links = 174, rawLeaves = false }: FileLayout = {},
  ): string {
    const version = rawLeaves ? 1 : 0;
    const count = Math.max(1, Math.ceil(bytes.length / chunkBytes));
    let level = Array.from({ length: count }, (_, index) => {
      const chunk = bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
      const cid = rawLeaves ? this.addBlock(chunk, 'raw') : this.addNode([], { data: chunk });
      return { cid, fileBytes: chunk.length };
    });
    while (level.length > 1) {
      const below = level;
      level = Array.from({ length: Math.ceil(below.length / links) }, (_, index) => {
        const children = below.slice(index * links, (index + 1) * links);
        const fileBytes = children.reduce((sum, child) => sum + child.fileBytes, 0);
        return { cid: this.addNode(children, { version }), fileBytes };
      });
    }
    return String(level[0]?.cid);
  }

  /** The blocks of a DAG, each once, the root first. */
  walk(root: CID): { readonly cid: CID; readonly bytes: Uint8Array }[] {
    const found = new Map<string, { readonly cid: CID; readonly bytes: Uint8Array }>();
    const open = [root];
    for (let cid = open.pop(); cid !== undefined; cid = open.pop()) {
      const bytes = this.get(cid);
      if (bytes === undefined || found.has(String(cid))) continue;
      found.set(String(cid), { cid, bytes });
      if (cid.code === DAG_PB) {
        open.push(
          ...decode(bytes)
            .Links.map(({ Hash }) => Hash)
            .reverse(),
        );
      }
    }
    return [...found.values()];
  }

  #bytesBelow(cid: CID): number {
    return this.#sizes.get(String(cid)) ?? this.get(cid)?.length ?? 0;
  }
}

/** A CAR archive of blocks, as sent by a gateway. */
export async function writeCar(
  root: CID,
  blocks: readonly { readonly cid: CID; readonly bytes: Uint8Array }[],
): Promise<Buffer> {
  const { writer, out } = CarWriter.create([root]);
  const parts: Uint8Array[] = [];
  const reading = (async () => {
    for await (const part of out) parts.push(part);
  })();
  for (const block of blocks) await writer.put(block);
  await writer.close();
  await reading;
  return Buffer.concat(parts);
}

/** A request to a gateway, and the response of a trustless gateway. */
export interface GatewayCall {
  readonly cid: CID;
  readonly format: string | null;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Responds like a correct gateway. */
  readonly answer: () => Promise<void>;
}

export interface GatewayOptions {
  /** Its blocks; none by default. Several gateways may share a store. */
  readonly blocks?: IpfsStore;
  /** The path before `/ipfs/`. */
  readonly path?: string;
  /** Supported response formats; others get 406. */
  readonly forms?: readonly string[];
  /** Behaviour that replaces that of a correct gateway. */
  readonly behave?: (call: GatewayCall) => Promise<void> | void;
}

/** A test's trustless gateway on 127.0.0.1 (https://specs.ipfs.tech/http-gateways/trustless-gateway/). */
export interface IpfsGateway extends WebServer {
  readonly store: IpfsStore;
  /** `raw Qm…` or `car Qm…` of each request so far. */
  readonly asked: readonly string[];
  readonly addFile: (bytes: Uint8Array, layout?: FileLayout) => string;
}

/** Starts a trustless gateway. */
export async function startGateway(options: GatewayOptions = {}): Promise<IpfsGateway> {
  const { blocks: store = new IpfsStore(), path = '', forms = ['raw', 'car'], behave } = options;
  const asked: string[] = [];
  const answer = async (
    cid: CID,
    format: string | null,
    response: ServerResponse,
  ): Promise<void> => {
    if (format === null || !forms.includes(format)) {
      end(response, 406);
      return;
    }
    const block = store.get(cid);
    if (block === undefined) {
      end(response, 404);
      return;
    }
    response.setHeader('content-type', `application/vnd.ipld.${format}`);
    response.end(format === 'raw' ? block : await writeCar(cid, store.walk(cid)));
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', 'http://gateway');
    const prefix = `${path}/ipfs/`;
    if (!url.pathname.startsWith(prefix)) {
      end(response, 404);
      return;
    }
    const cid = CID.parse(url.pathname.slice(prefix.length));
    const format = url.searchParams.get('format');
    asked.push(`${format} ${String(cid)}`);
    const soundly = (): Promise<void> => answer(cid, format, response);
    if (behave === undefined) return soundly();
    await behave({ cid, format, request, response, answer: soundly });
  };
  const server = await startWebServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  return {
    ...server,
    store,
    asked,
    addFile: (bytes, layout) => store.addFile(bytes, layout),
  };
}

function end(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.end();
}
