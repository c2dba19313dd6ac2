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
 * The endpoints in the order in which they are asked: those whose word is enough one by one, then the others in pairs
 * at once.
 */
export function planWaves(
  chain: AskedChain,
  quorum: Quorum | undefined,
): readonly (readonly Endpoint[])[] {
  const askable = chain.endpoints.filter(isAskable);
  const enough = askable.filter((endpoint) => quorumFor(chain, endpoint, quorum) === 1);
  const others = askable.filter((endpoint) => !enough.includes(endpoint)).slice(0, MAX_ENDPOINTS);
  const waves: Endpoint[][] = enough.slice(0, MAX_ENDPOINTS).map((endpoint) => [endpoint]);
  for (let at = 0; at < others.length; at += WAVE_SIZE)
    waves.push(others.slice(at, at + WAVE_SIZE));
  return waves;
}
