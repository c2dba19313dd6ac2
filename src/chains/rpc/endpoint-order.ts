import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain, isSupportedEndpoint, isOwnNode, operatorOf } from './rpc-chain.ts';

/** How many endpoints must agree. */
export type Quorum = 1 | 2;

/** Well-known chains have many endpoints; querying more than this adds nothing. */
const MAX_ENDPOINTS = 8;
const WAVE_SIZE = 2;

/**
 * How many operators must agree if this endpoint takes part: the configured number, else one if it is the
 * operator's own node or the whole chain has endpoints of one operator only, else two.
 */
export function quorumFor(chain: RpcChain, endpoint: Endpoint, quorum: Quorum | undefined): Quorum {
  return quorum ?? (isOwnNode(chain, endpoint) || hasOneOperator(chain) ? 1 : 2);
}

/** Whether all usable endpoints belong to one operator, including those that do not respond now. */
function hasOneOperator({ endpoints }: RpcChain): boolean {
  return new Set(endpoints.filter(isSupportedEndpoint).map(operatorOf)).size === 1;
}

/** Current preference for an endpoint: `first` without objections, `later` with some, `last` if it is known to fail. */
export type EndpointRank = 'first' | 'later' | 'last';
export type EndpointPreference = (chainId: number, endpoint: Endpoint) => EndpointRank;

const RANKS: readonly EndpointRank[] = ['first', 'later', 'last'];

/** The usable endpoints, preferred ones first; those of equal rank stay in the chain's order. */
export function orderEndpoints(
  { record: { chainId }, endpoints }: RpcChain,
  preference: EndpointPreference = () => 'first',
): readonly Endpoint[] {
  const ranked = endpoints
    .filter(isSupportedEndpoint)
    .map((endpoint) => ({ endpoint, rank: preference(chainId, endpoint) }));
  return RANKS.flatMap((wanted) =>
    ranked.filter(({ rank }) => rank === wanted).map(({ endpoint }) => endpoint),
  );
}

/**
 * The endpoints in query order: those whose word is enough one by one, then the others in concurrent pairs;
 * after them, in the same way, those that are known to fail. The required number of operators stays the same.
 */
export function planBatches(
  chain: RpcChain,
  quorum: Quorum | undefined,
  preference?: EndpointPreference,
): readonly (readonly Endpoint[])[] {
  const { chainId } = chain.record;
  const ordered = orderEndpoints(chain, preference);
  const isEnough = (endpoint: Endpoint): boolean => quorumFor(chain, endpoint, quorum) === 1;
  const enough = ordered.filter(isEnough).slice(0, MAX_ENDPOINTS);
  const others = mixOperators(ordered.filter((endpoint) => !isEnough(endpoint)));
  const isLast = (endpoint: Endpoint): boolean => preference?.(chainId, endpoint) === 'last';
  const wavesOf = (wanted: (endpoint: Endpoint) => boolean): readonly (readonly Endpoint[])[] => [
    ...enough.filter(wanted).map((endpoint) => [endpoint]),
    ...inPairs(others.filter(wanted).slice(0, MAX_ENDPOINTS)),
  ];
  return [...wavesOf((endpoint) => !isLast(endpoint)), ...wavesOf(isLast)];
}

/** The first endpoint of each operator, then the second of each, and so on: two of one operator prove nothing. */
function mixOperators(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const seen = new Map<string, number>();
  const turns = endpoints.map((endpoint) => {
    const operator = operatorOf(endpoint);
    const turn = seen.get(operator) ?? 0;
    seen.set(operator, turn + 1);
    return { endpoint, turn };
  });
  return turns.sort((left, right) => left.turn - right.turn).map(({ endpoint }) => endpoint);
}

function inPairs(endpoints: readonly Endpoint[]): readonly (readonly Endpoint[])[] {
  const pairs: Endpoint[][] = [];
  for (let at = 0; at < endpoints.length; at += WAVE_SIZE)
    pairs.push(endpoints.slice(at, at + WAVE_SIZE));
  return pairs;
}
