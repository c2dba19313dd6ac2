import { getDomain } from 'tldts';
import { isPrivateHost } from '../registry/public-rpc.ts';
import { type Endpoint, type RegisteredChain } from '../registry/registered-chain.ts';
import { hostPortOf, literalAddress, reachedAddress } from '../../lib/address-guard.ts';
import { networkOf } from '../../lib/client-network.ts';

/** What the RPC client needs to know of a chain; every {@link RegisteredChain} is one. */
export interface AskedChain {
  readonly record: { readonly chainId: number };
  /** In the order of preference. */
  readonly endpoints: readonly Endpoint[];
  readonly local: boolean;
}

/** The host name of an endpoint in lower case, without its port. */
export function hostOf(endpoint: Endpoint): string {
  return new URL(endpoint.url.reveal()).hostname.toLowerCase();
}

/**
 * Who operates an endpoint, as far as its URL tells: the registrable domain of its host, by the ICANN part of the public
 * suffix list. All hosts of one domain are one operator, also where a provider gives each customer a name of his own.
 * A public IP address stands for its network, a /24 or a /48, by IPv4 also where it is written inside IPv6. A local one,
 * or a name without a domain, stands for itself. Endpoints of two operators are independent of each other.
 */
export function operatorOf(endpoint: Endpoint): string {
  const host = hostOf(endpoint);
  const address = literalAddress(host);
  if (address !== undefined) return networkOf(reachedAddress(address));
  return getDomain(host) ?? host.replace(/\.$/, '');
}

/** Whether the RPC client can speak to an endpoint. */
export function isAskable(endpoint: Endpoint): boolean {
  return /^(?:https?|wss?):/i.test(endpoint.url.reveal());
}

/** Whether an endpoint is a node on the operator's machine or network. */
export function isOwnNode(chain: AskedChain, endpoint: Endpoint): boolean {
  return chain.local || isPrivateHost(hostOf(endpoint));
}

/**
 * The `host:port` of every endpoint that the operator configured, which may have a private address: endpoints that are
 * not published, those that name a private host (the registry takes these from nobody else), and all of a chain whose
 * `rpc` is the configuration's alone. A stranger's endpoint of the public list is never among them.
 */
export function findOperatorHosts(chains: readonly RegisteredChain[]): readonly string[] {
  const hosts = new Set<string>();
  for (const chain of chains) {
    const configured = chain.origins.rpc === 'configuration';
    for (const endpoint of chain.endpoints.filter(isAskable)) {
      if (configured || !endpoint.public || isPrivateHost(hostOf(endpoint))) {
        hosts.add(hostPortOf(new URL(endpoint.url.reveal())));
      }
    }
  }
  return [...hosts];
}
