import { getDomain } from 'tldts';
import { isPrivateHost } from '../registry/public-rpc.ts';
import { type Endpoint, type RegisteredChain } from '../registry/registered-chain.ts';
import { hostPortOf, literalAddress, unwrapEmbeddedIPv4 } from '../../lib/address-guard.ts';
import { networkOf } from '../../lib/client-network.ts';

/** A chain as the RPC client needs it; every {@link RegisteredChain} is one. */
export interface RpcChain {
  readonly record: { readonly chainId: number };
  /** In order of preference. */
  readonly endpoints: readonly Endpoint[];
  readonly local: boolean;
}

/** Host name of an endpoint in lower case, without its port. */
export function hostOf(endpoint: Endpoint): string {
  return new URL(endpoint.url.reveal()).hostname.toLowerCase();
}

/**
 * Operator of an endpoint, as far as its URL tells: the registrable domain of its host, by the ICANN part of
 * the public suffix list. All hosts of a domain have one operator, also if a provider gives each customer a
 * separate name. A public IP address represents its network, a /24 or a /48, also if IPv4 is embedded in
 * IPv6. A local address, or a name without a domain, represents itself. Endpoints of different operators
 * count as independent.
 */
export function operatorOf(endpoint: Endpoint): string {
  const host = hostOf(endpoint);
  const address = literalAddress(host);
  if (address !== undefined) return networkOf(unwrapEmbeddedIPv4(address));
  return getDomain(host) ?? host.replace(/\.$/, '');
}

/** Whether the RPC client supports an endpoint. */
export function isSupportedEndpoint(endpoint: Endpoint): boolean {
  return /^(?:https?|wss?):/i.test(endpoint.url.reveal());
}

/** Whether an endpoint is a node on the operator's machine or network. */
export function isOwnNode(chain: RpcChain, endpoint: Endpoint): boolean {
  return chain.local || isPrivateHost(hostOf(endpoint));
}

/**
 * The `host:port` of every endpoint that the operator configured, which may have private addresses:
 * unpublished endpoints, those that name a private host (the registry accepts these from no one else), and
 * all of a chain whose `rpc` comes from the configuration alone. An endpoint of the public list is never
 * included.
 */
export function findOperatorHosts(chains: readonly RegisteredChain[]): readonly string[] {
  const hosts = new Set<string>();
  for (const chain of chains) {
    const configured = chain.origins.rpc === 'configuration';
    for (const endpoint of chain.endpoints.filter(isSupportedEndpoint)) {
      if (configured || !endpoint.public || isPrivateHost(hostOf(endpoint))) {
        hosts.add(hostPortOf(new URL(endpoint.url.reveal())));
      }
    }
  }
  return [...hosts];
}
