import { type EndpointState } from './endpoint-state.ts';

/**
 * How a chain is: `up` all its endpoints are; `degraded` some are not; `down` none gives answers that can be used;
 * `unknown` too little is known yet.
 */
export type ChainState = 'unknown' | 'up' | 'degraded' | 'down';

const USELESS: ReadonlySet<EndpointState> = new Set(['down', 'wrong_chain']);

/** The state of a chain from those of its endpoints. One that is not known yet decides nothing while another is known. */
export function summariseStates(states: readonly EndpointState[]): ChainState {
  const known = states.filter((state) => state !== 'unknown');
  if (known.length === 0) return 'unknown';
  if (known.every((state) => state === 'up')) return 'up';
  return known.length === states.length && known.every((state) => USELESS.has(state))
    ? 'down'
    : 'degraded';
}
