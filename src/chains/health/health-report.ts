import { type RegisteredChain } from '../registry/registered-chain.ts';
import { medianBlockSeconds } from './block-pace.ts';
import { type ChainState } from './chain-state.ts';
import { DOWN_AFTER, type EndpointState, UP_AFTER } from './endpoint-state.ts';
import { labelEndpoints, type TrackedChain, type TrackedEndpoint } from './health-book.ts';
import { type LatencyReport, reportLatency } from './latency.ts';
import { type Capability } from './probe-endpoint.ts';
import { countOf } from '../../lib/count-of.ts';

/** Reason of a state: a code for programs and a sentence for people. Neither contains a URL. */
export interface HealthReason {
  readonly code: string;
  readonly detail: string;
}

/** Report of an endpoint. Unknown values are absent. */
export interface EndpointReport {
  /** The host of a public endpoint; `private-1` and so on otherwise. */
  readonly label: string;
  readonly public: boolean;
  readonly state: EndpointState | 'not_probed';
  /** When the state began. */
  readonly since?: Date;
  /** Most severe first; may be empty. */
  readonly reasons: readonly HealthReason[];
  /** When it was last probed. */
  readonly checkedAt?: Date;
  /** Its newest block, and the age of that block when it was read. */
  readonly head?: {
    readonly number: number;
    readonly timestamp: Date;
    readonly seenAt: Date;
    readonly ageSeconds?: number;
  };
  /** Blocks that a peer had when this endpoint did not. */
  readonly lagBlocks?: number;
  readonly latency?: LatencyReport;
  readonly archive: Capability;
  readonly trace: Capability;
}

/** Report of a chain and its endpoints. */
export interface ChainHealthReport {
  readonly chainId: number;
  readonly state: ChainState | 'not_probed';
  readonly since?: Date;
  readonly reasons: readonly HealthReason[];
  /** The observed time between blocks. */
  readonly secondsPerBlock?: number;
  readonly endpoints: readonly EndpointReport[];
}

/** Why the chain is not probed. */
export const NOT_PROBED_REASONS = {
  probing_disabled: 'Probing is switched off: health.enabled is false.',
  not_configured:
    'RPC health is checked only for chains in your configuration: add the chain under chains.',
  not_supported: 'RPC health is checked only for supported chains.',
  no_endpoints: 'The chain has no usable endpoint.',
} as const;
export type NotProbedReason = keyof typeof NOT_PROBED_REASONS;

/** Report of a chain that is not probed, with the reason for the chain and for each endpoint. */
export function reportUnprobed(chain: RegisteredChain, code: NotProbedReason): ChainHealthReport {
  const { record, endpoints } = chain;
  const reason = { code, detail: NOT_PROBED_REASONS[code] };
  const labels = labelEndpoints(chain);
  return {
    chainId: record.chainId,
    state: 'not_probed',
    reasons: [reason],
    endpoints: endpoints.map((endpoint) => ({
      label: labels.get(endpoint) ?? endpoint.label,
      public: endpoint.public,
      state: 'not_probed' as const,
      reasons: [reason],
      archive: 'unknown' as const,
      trace: 'unknown' as const,
    })),
  };
}

/** Report of a probed chain; endpoints that are not probed come last. */
export function reportChain(tracked: TrackedChain): ChainHealthReport {
  const { chain, state, since, pace } = tracked;
  const usual = medianBlockSeconds(pace);
  const endpoints = tracked.endpoints.map((endpoint) => reportEndpoint(endpoint, usual));
  const probed = new Set(endpoints.map(({ label }) => label));
  const rest = reportUnprobed(chain, 'no_endpoints').endpoints.filter(
    ({ label }) => !probed.has(label),
  );
  const detail = 'Only the first endpoints of a chain are probed; this one comes later.';
  const tooMany = [{ code: 'too_many_endpoints', detail }];
  return {
    chainId: chain.record.chainId,
    state,
    since: new Date(since),
    reasons: summariseReasons(endpoints),
    ...(usual === undefined ? {} : { secondsPerBlock: roundTo(usual, 2) }),
    endpoints: [...endpoints, ...rest.map((each) => ({ ...each, reasons: tooMany }))],
  };
}

/** Number of probed chains in each state, and the chains that are down. */
export interface HealthSummary {
  readonly up: number;
  readonly degraded: number;
  readonly unknown: number;
  /** Ascending ids of the chains without any usable endpoint. */
  readonly down: readonly number[];
}

/** Counts chains by state, and lists those that are down in report order. */
export function summariseReports(reports: readonly ChainHealthReport[]): HealthSummary {
  const inState = (wanted: ChainState): readonly number[] =>
    reports.filter(({ state }) => state === wanted).map(({ chainId }) => chainId);
  return {
    up: inState('up').length,
    degraded: inState('degraded').length,
    unknown: inState('unknown').length,
    down: inState('down'),
  };
}

function roundTo(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

/** One reason for each state other than `up` of the endpoints. */
function summariseReasons(endpoints: readonly EndpointReport[]): readonly HealthReason[] {
  const labels = new Map<string, string[]>();
  for (const { state, label } of endpoints) {
    if (state !== 'up') labels.set(state, [...(labels.get(state) ?? []), label]);
  }
  return [...labels].map(([code, names]) => ({
    code,
    detail: `${names.length} of ${endpoints.length} endpoints: ${names.join(', ')}.`,
  }));
}

function reportEndpoint(tracked: TrackedEndpoint, usual: number | undefined): EndpointReport {
  const { endpoint, label, record, checkedAt, head, judgement, latencies } = tracked;
  const latency = reportLatency(latencies);
  return {
    label,
    public: endpoint.public,
    state: record.state,
    since: new Date(record.since),
    reasons: explain(tracked, usual),
    ...(checkedAt === undefined ? {} : { checkedAt: new Date(checkedAt) }),
    ...(head === undefined
      ? {}
      : {
          head: {
            number: head.number,
            timestamp: toDate(head.timestamp),
            seenAt: new Date(head.seenAt),
            ...(judgement?.ageSeconds === undefined ? {} : { ageSeconds: judgement.ageSeconds }),
          },
        }),
    ...(judgement === undefined ? {} : { lagBlocks: judgement.lagBlocks }),
    ...(latency === undefined ? {} : { latency }),
    archive: tracked.archive,
    trace: tracked.trace,
  };
}

/** The last second that a Date can represent; a false timestamp may be later. */
const LAST_SECOND = 8.64e12;

function toDate(seconds: number): Date {
  return new Date(Math.min(seconds, LAST_SECOND) * 1000);
}

function explain(tracked: TrackedEndpoint, usual: number | undefined): readonly HealthReason[] {
  const reasons = [...explainProbe(tracked, usual)];
  if (tracked.budgetSpent) {
    const detail = 'The daily budget of its host (health.dailyBudget) is used up.';
    reasons.push({ code: 'budget_spent', detail });
  }
  return reasons;
}

function explainProbe(
  { record, probe, judgement, chain }: TrackedEndpoint,
  usual: number | undefined,
): readonly HealthReason[] {
  if (probe === undefined) return [{ code: 'not_checked_yet', detail: 'It was not asked yet.' }];
  if (probe.kind === 'wrong_chain') {
    const { chainId } = chain.chain.record;
    const detail = `It reports chain ${probe.answeredChainId}, not ${chainId}. It is probed again once the configuration changes.`;
    return [{ code: 'wrong_chain', detail }];
  }
  if (probe.kind === 'fault') return [explainFault(probe, record.bads)];
  const reasons: HealthReason[] = [];
  if (judgement?.verdict === 'lagging') {
    const detail = `It is ${countOf(judgement.lagBlocks, 'block')} behind the best endpoint of the chain.`;
    reasons.push({ code: 'behind_peers', detail });
  }
  if (judgement?.verdict === 'stalled') {
    const detail = `Its newest block is ${judgement.ageSeconds ?? 0} s old; the chain usually has one every ${roundTo(usual ?? 0, 2)} s.`;
    reasons.push({ code: 'head_too_old', detail });
  }
  if (judgement?.inFuture) {
    const detail = 'Its newest block is in the future, so its age is unknown.';
    reasons.push({ code: 'head_in_future', detail });
  }
  if (record.state !== 'up' && judgement?.verdict === 'good') {
    const detail = `It is up after ${UP_AFTER} good responses in a row; this is number ${record.goods}.`;
    reasons.push({ code: 'recovering', detail });
  }
  return reasons;
}

function explainFault(
  { verdict, reason }: { readonly verdict: 'throttled' | 'bad'; readonly reason: string },
  bads: number,
): HealthReason {
  if (verdict === 'throttled') {
    return {
      code: reason,
      detail: 'It rejects our requests (401, 403), or their rate (429).',
    };
  }
  const detail =
    bads >= DOWN_AFTER
      ? `No good response to the last ${bads} probes.`
      : `No good response to ${bads} of the ${DOWN_AFTER} probes before it counts as down.`;
  return { code: reason, detail };
}
