import { ContentFault } from '../content-fault.ts';
import { Attempts } from './attempts.ts';
import { type GatewayClient } from './gateway-client.ts';
import { type Gateway } from './gateway.ts';
import { type SearchBudget } from './search-budget.ts';

/** Swarm content to fetch, and how to recognize it. */
export interface SwarmRequest {
  /** 64 lower-case hex digits. */
  readonly hash: string;
  readonly maxBytes: number;
  readonly isContent: (bytes: Buffer) => Promise<boolean>;
  /** Whether `isContent` verifies the hash that is requested from the gateway, and not a separately claimed one. */
  readonly isChecked: boolean;
}

interface SwarmContent {
  readonly bytes: Buffer;
  /** Origin of the gateway. */
  readonly origin: string;
}

/** Bee's API (https://docs.ethswarm.org/api/), then that of the original Swarm client (`bzz-raw:/`). */
const APIS = ['bytes', 'bzz-raw'] as const;

/** Fetches content from Swarm gateways for one contract. */
export class SwarmContents {
  readonly #client: GatewayClient;
  readonly #gateways: readonly Gateway[];
  readonly #spending: SearchBudget;
  readonly #signal: AbortSignal;

  constructor(
    client: GatewayClient,
    gateways: readonly Gateway[],
    spending: SearchBudget,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.#gateways = gateways;
    this.#spending = spending;
    this.#signal = signal;
  }

  /** @throws ContentFault `unavailable` */
  async get({ hash, maxBytes, isContent, isChecked }: SwarmRequest): Promise<SwarmContent> {
    const attempts = new Attempts();
    if (this.#gateways.length === 0) {
      throw new ContentFault('unavailable', 'No gateway of Swarm is configured.');
    }
    for (const gateway of this.#gateways) {
      for (const api of APIS) {
        const answer = await this.#client.ask(gateway, {
          url: gateway.swarmUrl(hash, api),
          accept: 'application/octet-stream, */*',
          maxBytes,
          signal: this.#signal,
          spending: this.#spending,
          read: async (body) => ((await isContent(body)) ? body : undefined),
          isChecked,
        });
        if ('content' in answer) return { bytes: answer.content, origin: gateway.origin };
        attempts.add(answer.note);
      }
    }
    throw attempts.toFault(`No gateway of Swarm has ${hash}.`);
  }
}
