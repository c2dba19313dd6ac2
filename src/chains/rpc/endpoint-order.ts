import { type Endpoint } from '../registered-chain.ts';
import { type AskedChain, isAskable, isOwnNode } from './asked-chain.ts';

/** How many endpoints have to say the same. */
export type Quorum = 1 | 2;

/** Endpoints are many on well-known chains; asking more than this tells nothing new. */
const MAX_ENDPOINTS = 8;
const WAVE_SIZE = 2;

/** How many have to agree with this endpoint: the operator's word, else one where it is his own node, else two. */
export function quorumFor(
  chain: AskedChain,
  endpoint: Endpoint,
  quorum: Quorum | undefined,
): Quorum {
  return quorum ?? (isOwnNode(chain, endpoint) ? 1 : 2);
}

/**
 * How much an endpoint is wanted at the moment: `first` when nothing speaks against it, `later` when something does,
 * `last` when it is known not to help.
 */
export type EndpointRank = 'first' | 'later' | 'last';
export type EndpointPreference = (chainId: number, endpoint: Endpoint) => EndpointRank;

const RANKS: readonly EndpointRank[] = ['first', 'later', 'last'];

/** The endpoints that can be asked, wanted ones first; those of one rank stay in the chain's order. */
export function orderEndpoints(
  { record: { chainId }, endpoints }: AskedChain,
  preference: EndpointPreference = () => 'first',
): readonly Endpoint[] {
  const ranked = endpoints
    .filter(isAskable)
    .map((endpoint) => ({ endpoint, rank: preference(chainId, endpoint) }));
  return RANKS.flatMap((wanted) =>
    ranked.filter(({ rank }) => rank === wanted).map(({ endpoint }) => endpoint),
  );
}

/**
 * The endpoints in the order in which they are asked: those whose word is enough one by one, then the others in pairs
 * at once; after them, in the same way, those that are known not to help. How many have to agree stays the same.
 */
export function planWaves(
  chain: AskedChain,
  quorum: Quorum | undefined,
  preference?: EndpointPreference,
): readonly (readonly Endpoint[])[] {
  const { chainId } = chain.record;
  const ordered = orderEndpoints(chain, preference);
  const isEnough = (endpoint: Endpoint): boolean => quorumFor(chain, endpoint, quorum) === 1;
  const enough = ordered.filter(isEnough).slice(0, MAX_ENDPOINTS);
  const others = ordered.filter((endpoint) => !isEnough(endpoint)).slice(0, MAX_ENDPOINTS);
  const isLast = (endpoint: Endpoint): boolean => preference?.(chainId, endpoint) === 'last';
  const wavesOf = (wanted: (endpoint: Endpoint) => boolean): readonly (readonly Endpoint[])[] => [
    ...enough.filter(wanted).map((endpoint) => [endpoint]),
    ...inPairs(others.filter(wanted)),
  ];
  return [...wavesOf((endpoint) => !isLast(endpoint)), ...wavesOf(isLast)];
}

function inPairs(endpoints: readonly Endpoint[]): readonly (readonly Endpoint[])[] {
  const pairs: Endpoint[][] = [];
  for (let at = 0; at < endpoints.length; at += WAVE_SIZE)
    pairs.push(endpoints.slice(at, at + WAVE_SIZE));
  return pairs;
}
