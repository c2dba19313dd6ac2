/**
 * How an endpoint is. `unknown` not known yet; `up`; `lagging` behind the best of its peers; `stalled` its newest block
 * is too old for the chain's pace; `throttled` it lives and refuses us (401, 403, 429); `down` it gives no sound
 * answers; `wrong_chain` it belongs to another chain.
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

/** What one probe says about an endpoint. `bad` is not an answer, or one that cannot be used. */
export type Verdict = 'good' | 'lagging' | 'stalled' | 'throttled' | 'bad' | 'wrong_chain';

/** The state of an endpoint, and what it takes to leave it. */
export interface StateRecord {
  readonly state: EndpointState;
  /** When the state began: milliseconds since the epoch. */
  readonly since: number;
  /** Good verdicts in a row. */
  readonly goods: number;
  /** Verdicts in a row that were answers of the right chain, good or not. */
  readonly answers: number;
  /** Bad verdicts in a row. */
  readonly bads: number;
}

/** Bad verdicts in a row after which an endpoint is down. */
export const DOWN_AFTER = 5;
/** Good verdicts in a row after which an endpoint is up. */
export const UP_AFTER = 2;

/** The state before the first probe. */
export function startState(now: number): StateRecord {
  return { state: 'unknown', since: now, goods: 0, answers: 0, bads: 0 };
}

/**
 * The state after one more verdict. Good and bad ones count in rows, so that one lost packet or one lucky answer
 * changes nothing; a throttled answer shows at once that the endpoint lives. `wrong_chain` stays: only another
 * configuration ends it.
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
