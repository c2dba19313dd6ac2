import { networkOf } from './client-network.ts';

/** How much there is to hold, in any unit. */
export interface ShareLimits {
  readonly total: number;
  /** What one client may hold, and what all clients of its network together may. */
  readonly perClient: number;
}

/** The answer to a request for more: `full` for the total, `client_full` for the client or its network. */
export type Grant = 'granted' | 'full' | 'client_full';

interface ClientHoldings {
  amount: number;
  readonly shares: Set<Share>;
}

interface NetworkHoldings {
  amount: number;
  readonly clients: Map<string, ClientHoldings>;
}

/** What a share held before it was taken. */
interface Taken {
  readonly from: Share;
  readonly held: number;
}

/**
 * Shares something scarce between clients and their networks: seats, waiting requests, bytes. Where all of it is held,
 * who asks for more takes it from the network that holds most, as long as that one holds more than the asker's network
 * will; in it from the client that holds most, and of that one the newest holding. What is idle goes before all else of
 * its network, and gives way to a network that will hold as much. So nobody who has something to do is displaced while
 * holding at most an equal part, and many addresses of one network hold no more than one address.
 */
export class FairShares {
  readonly #limits: ShareLimits;
  readonly #networks = new Map<string, NetworkHoldings>();
  #total = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** What all clients hold. */
  get total(): number {
    return this.#total;
  }

  /** How many clients hold something. */
  get clients(): number {
    let clients = 0;
    for (const network of this.#networks.values()) clients += network.clients.size;
    return clients;
  }

  /** What one client holds. */
  heldBy(client: string): number {
    return this.#ofClient(networkOf(client), client);
  }

  /**
   * A share that holds nothing yet.
   * @param giveWay told when the share has lost to somebody else all that it held.
   * @param isIdle whether nobody would miss it now.
   */
  open(client: string, giveWay: () => void, isIdle = (): boolean => false): Share {
    return new Share(this, client, giveWay, isIdle);
  }

  /** Gives a share more; where it is refused, nobody has lost anything. For {@link Share}. */
  grow(share: Share, amount: number): Grant {
    const taken: Taken[] = [];
    const grant = this.#makeRoom(share, amount, taken);
    if (grant !== 'granted') {
      for (const { from, held } of taken.toReversed()) this.#add(from, held);
      return grant;
    }
    this.#add(share, amount);
    for (const { from } of taken) from.sayLost();
    return grant;
  }

  #makeRoom(share: Share, amount: number, taken: Taken[]): Grant {
    const { total, perClient } = this.#limits;
    const { client, network } = share;
    if (this.#ofNetwork(network) + amount > perClient) {
      // Within the bound of its network a client takes from a neighbour that holds more.
      const isOwn = this.#ofClient(network, client) + amount > perClient;
      if (isOwn || !this.#displace(perClient, share, amount, 'neighbour', taken)) {
        return 'client_full';
      }
    }
    const isFull = this.#total + amount > total;
    return isFull && !this.#displace(total, share, amount, 'any', taken) ? 'full' : 'granted';
  }

  /** Takes back what a share holds, or a part of it. For {@link Share}. */
  shrink(share: Share, amount: number): void {
    if (amount > 0) this.#add(share, -amount);
  }

  #ofNetwork(network: string): number {
    return this.#networks.get(network)?.amount ?? 0;
  }

  #ofClient(network: string, client: string): number {
    return this.#networks.get(network)?.clients.get(client)?.amount ?? 0;
  }

  /** Makes room below a bound by what it takes from others, who are not told yet. @returns whether there is room. */
  #displace(
    bound: number,
    asker: Share,
    amount: number,
    whom: 'any' | 'neighbour',
    taken: Taken[],
  ): boolean {
    const isRoomy = (): boolean =>
      (whom === 'any' ? this.#total : this.#ofNetwork(asker.network)) + amount <= bound;
    while (!isRoomy()) {
      const loser =
        (whom === 'any' ? this.#loserElsewhere(asker, amount) : undefined) ??
        this.#loserBeside(asker, amount);
      if (loser === undefined) return false;
      taken.push({ from: loser, held: loser.amount });
      loser.release();
    }
    return true;
  }

  /**
   * A holding of the other network that holds most, if that is more than the asker's network will hold. Where it is as
   * much, what has been idle longest: else as many networks as there are holdings keep everybody out by doing nothing.
   */
  #loserElsewhere({ network }: Share, amount: number): Share | undefined {
    const others = [...this.#networks].flatMap(([name, held]) => (name === network ? [] : [held]));
    const most = largest(others);
    const wanted = this.#ofNetwork(network) + amount;
    if (most === undefined || most.amount < wanted) return undefined;
    if (most.amount > wanted) return loserOf([...most.clients.values()]);
    for (const equal of others) {
      const idle = equal.amount === wanted ? idleOf([...equal.clients.values()]) : undefined;
      if (idle !== undefined) return idle;
    }
    return undefined;
  }

  /** A holding of the asker's neighbour that holds most, if that is more than the asker will hold. */
  #loserBeside({ network, client }: Share, amount: number): Share | undefined {
    const clients = [...(this.#networks.get(network)?.clients ?? [])];
    const neighbours = clients.filter(([name]) => name !== client);
    const most = largest(neighbours.map(([, holdings]) => holdings));
    if (most === undefined || most.amount <= this.#ofClient(network, client) + amount) {
      return undefined;
    }
    return loserOf([most]);
  }

  #add(share: Share, amount: number): void {
    const network = this.#networks.get(share.network) ?? {
      amount: 0,
      clients: new Map<string, ClientHoldings>(),
    };
    const client = network.clients.get(share.client) ?? { amount: 0, shares: new Set<Share>() };
    this.#total += amount;
    network.amount += amount;
    client.amount += amount;
    share.amount += amount;
    if (share.amount > 0) client.shares.add(share);
    else client.shares.delete(share);
    if (client.shares.size > 0) network.clients.set(share.client, client);
    else network.clients.delete(share.client);
    if (network.clients.size > 0) this.#networks.set(share.network, network);
    else this.#networks.delete(share.network);
  }
}

/** What one seat, request or body holds. */
export class Share {
  readonly #shares: FairShares;
  readonly #giveWay: () => void;
  /** Whether nobody would miss it now. */
  readonly isIdle: () => boolean;
  readonly client: string;
  readonly network: string;
  amount = 0;

  constructor(shares: FairShares, client: string, giveWay: () => void, isIdle: () => boolean) {
    this.#shares = shares;
    this.#giveWay = giveWay;
    this.isIdle = isIdle;
    this.client = client;
    this.network = networkOf(client);
  }

  /** Asks for more; others may give way to it. */
  grow(amount: number): Grant {
    return this.#shares.grow(this, amount);
  }

  /** Gives a part back. */
  shrink(amount: number): void {
    this.#shares.shrink(this, Math.min(amount, this.amount));
  }

  /** Gives everything back; a second time does nothing. */
  release(): void {
    this.shrink(this.amount);
  }

  /** Says that somebody else has got all that it held. */
  sayLost(): void {
    this.#giveWay();
  }
}

/** The one that holds most; of several the newest. */
function largest<Holdings extends { readonly amount: number }>(
  all: readonly Holdings[],
): Holdings | undefined {
  return all.reduce<Holdings | undefined>(
    (most, each) => (most === undefined || each.amount >= most.amount ? each : most),
    undefined,
  );
}

/** The newest idle holding of the client that holds most of those with one; where none is idle, the newest of all. */
function loserOf(clients: readonly ClientHoldings[]): Share | undefined {
  const byAmount = clients.toReversed().sort((a, b) => b.amount - a.amount);
  return idleOf(byAmount) ?? [...(byAmount[0]?.shares ?? [])].at(-1);
}

/** The newest idle holding of the first client with one. */
function idleOf(clients: readonly ClientHoldings[]): Share | undefined {
  for (const { shares } of clients) {
    const idle = [...shares].findLast((share) => share.isIdle());
    if (idle !== undefined) return idle;
  }
  return undefined;
}
