import { type EndpointState } from './endpoint-state.ts';

/**
 * State of a chain: `up` all its endpoints are up; `degraded` some are not; `down` none gives usable
 * responses; `unknown` too little is known yet.
 */
export type ChainState = 'unknown' | 'up' | 'degraded' | 'down';

const USELESS: ReadonlySet<EndpointState> = new Set(['down', 'wrong_chain']);

/** Derives the state of a chain from its endpoints. Unknown endpoints are ignored if any other is known. */
export function summariseStates(states: readonly EndpointState[]): ChainState {
  const known = states.filter((state) => state !== 'unknown');
  if (known.length === 0) return 'unknown';
  if (known.every((state) => state === 'up')) return 'up';
  return known.length === states.length && known.every((state) => USELESS.has(state))
    ? 'down'
    : 'degraded';
}
