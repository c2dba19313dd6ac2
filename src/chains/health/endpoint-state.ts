/**
 * State of an endpoint. `unknown` not known yet; `up`; `lagging` behind the best of its peers; `stalled` its
 * newest block is too old for the chain's pace; `throttled` it responds but refuses us (401, 403, 429);
 * `down` it gives no valid responses; `wrong_chain` it belongs to another chain.
 */
export const ENDPOINT_STATES = [
  'unknown',
  'up',
  'lagging',
  'stalled',
  'throttled',
  'down',
  'wrong_chain',
] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** Verdict of one probe. `bad` is no response, or an unusable one. */
export type Verdict = 'good' | 'lagging' | 'stalled' | 'throttled' | 'bad' | 'wrong_chain';

/** State of an endpoint, and the verdicts counted towards the next state. */
export interface StateRecord {
  readonly state: EndpointState;
  /** When the state began: milliseconds since the epoch. */
  readonly since: number;
  /** Consecutive good verdicts. */
  readonly goods: number;
  /** Consecutive responses of the right chain, good or not. */
  readonly answers: number;
  /** Consecutive bad verdicts. */
  readonly bads: number;
}

/** Consecutive bad verdicts after which an endpoint is down. */
export const DOWN_AFTER = 5;
/** Consecutive good verdicts after which an endpoint is up. */
export const UP_AFTER = 2;

/** The state before the first probe. */
export function startState(now: number): StateRecord {
  return { state: 'unknown', since: now, goods: 0, answers: 0, bads: 0 };
}

/**
 * Computes the state after another verdict. Good and bad verdicts must be consecutive, so that one lost
 * packet or one lucky response changes nothing; a throttled response proves at once that the endpoint is
 * alive. `wrong_chain` stays until the configuration changes.
 */
export function nextState(before: StateRecord, verdict: Verdict, now: number): StateRecord {
  if (before.state === 'wrong_chain') return before;
  const answered = verdict === 'good' || verdict === 'lagging' || verdict === 'stalled';
  const counts = {
    goods: verdict === 'good' ? before.goods + 1 : 0,
    answers: answered ? before.answers + 1 : 0,
    bads: verdict === 'bad' ? before.bads + 1 : 0,
  };
  const state = stateOf(before.state, verdict, counts);
  return { ...counts, state, since: state === before.state ? before.since : now };
}

function stateOf(
  before: EndpointState,
  verdict: Verdict,
  { goods, answers, bads }: Pick<StateRecord, 'goods' | 'answers' | 'bads'>,
): EndpointState {
  switch (verdict) {
    case 'wrong_chain':
    case 'throttled':
      return verdict;
    case 'good':
      return goods >= UP_AFTER ? 'up' : before;
    case 'bad':
      return bads >= DOWN_AFTER ? 'down' : before;
    case 'lagging':
    case 'stalled':
      return before === 'down' && answers < UP_AFTER ? before : verdict;
  }
}
