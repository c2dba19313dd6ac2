import { type BlockCid, verifiesBlock, keyOfHash } from '../ipfs/cid.ts';
import { readCarBlocks } from '../ipfs/car-blocks.ts';
import { type BlockSource } from '../ipfs/read-file.ts';
import { type EventLoopYielder } from '../../../lib/event-loop-yielder.ts';
import { Attempts } from './attempts.ts';
import { type GatewayResult, type GatewayClient } from './gateway-client.ts';
import { type Gateway } from './gateway.ts';
import { type SearchBudget } from './search-budget.ts';

/** IPFS exchanges blocks of at most 2 MiB (https://specs.ipfs.tech/bitswap-protocol/). */
const MAX_BLOCK_BYTES = 2 * 1024 * 1024;
/** Size of an archive apart from the file: identifiers and nodes. */
const CAR_OVERHEAD_BYTES = 256 * 1024;
const RAW = 'application/vnd.ipld.raw';
const CAR = 'application/vnd.ipld.car; version=1';

/**
 * Reads blocks from trustless gateways (https://specs.ipfs.tech/http-gateways/trustless-gateway/) for one
 * contract. Gateways are tried in order, but the last one that delivered a block comes first: related content
 * is usually pinned together.
 */
export class IpfsBlocks implements BlockSource {
  readonly #client: GatewayClient;
  readonly #spending: SearchBudget;
  readonly #signal: AbortSignal;
  readonly #pauses: EventLoopYielder;
  #gateways: readonly Gateway[];
  /** Gateways that do not serve single blocks. */
  readonly #archivers = new Set<Gateway>();
  /** Verified blocks by hash: a file may link a block many times, and an archive includes linked blocks. */
  readonly #blocks = new Map<string, Uint8Array>();

  constructor(
    client: GatewayClient,
    gateways: readonly Gateway[],
    spending: SearchBudget,
    signal: AbortSignal,
    pauses: EventLoopYielder,
  ) {
    this.#client = client;
    this.#gateways = gateways;
    this.#spending = spending;
    this.#signal = signal;
    this.#pauses = pauses;
  }

  /** Origin of the gateway that delivered the last block. */
  get origin(): string {
    return this.#gateways[0]?.origin ?? '';
  }

  async getBlock(cid: BlockCid, limitBytes: number): Promise<Uint8Array> {
    const key = keyOfHash(cid.hash);
    const known = this.#blocks.get(key);
    if (known !== undefined) return known;
    const attempts = new Attempts();
    for (const gateway of this.#gateways) {
      const answer = await this.#askOne(gateway, cid, limitBytes);
      if ('content' in answer) {
        this.#blocks.set(key, answer.content);
        this.#gateways = [gateway, ...this.#gateways.filter((each) => each !== gateway)];
        return answer.content;
      }
      attempts.add(answer.note);
    }
    throw attempts.toFault(
      this.#gateways.length === 0
        ? 'No gateway of IPFS is configured.'
        : `No gateway has the block ${cid.text}.`,
    );
  }

  async #askOne(
    gateway: Gateway,
    cid: BlockCid,
    limitBytes: number,
  ): Promise<GatewayResult<Uint8Array>> {
    if (!this.#archivers.has(gateway)) {
      const answer = await this.#askBlock(gateway, cid);
      if ('content' in answer || !answer.isUnsupported) return answer;
      this.#archivers.add(gateway);
    }
    return this.#askArchive(gateway, cid, limitBytes);
  }

  #askBlock(gateway: Gateway, cid: BlockCid): Promise<GatewayResult<Uint8Array>> {
    return this.#client.ask<Uint8Array>(gateway, {
      url: gateway.ipfsUrl(cid.text, 'raw'),
      accept: RAW,
      maxBytes: MAX_BLOCK_BYTES,
      signal: this.#signal,
      spending: this.#spending,
      read: async (body) => {
        await this.#pauses.take();
        return verifiesBlock(cid, body) ? body : undefined;
      },
      isChecked: true,
    });
  }

  #askArchive(
    gateway: Gateway,
    cid: BlockCid,
    limitBytes: number,
  ): Promise<GatewayResult<Uint8Array>> {
    return this.#client.ask<Uint8Array>(gateway, {
      url: gateway.ipfsUrl(cid.text, 'car'),
      accept: CAR,
      maxBytes: limitBytes + Math.ceil(limitBytes / 16) + CAR_OVERHEAD_BYTES,
      signal: this.#signal,
      spending: this.#spending,
      read: (body) => this.#unpack(cid, body),
      isChecked: true,
    });
  }

  async #unpack(cid: BlockCid, archive: Buffer): Promise<Uint8Array | undefined> {
    await this.#pauses.take();
    for (const block of readCarBlocks(archive)) {
      this.#blocks.set(keyOfHash(block.cid.hash), block.bytes);
      await this.#pauses.take();
    }
    return this.#blocks.get(keyOfHash(cid.hash));
  }
}
