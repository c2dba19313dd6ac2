import { type VNode } from 'preact';
import { formatShare } from '../format.ts';
import { type MatchCounts } from '../answers.ts';

const HEALTH_WORDS = {
  up: 'up',
  degraded: 'degraded',
  down: 'down',
  unknown: 'not known yet',
  not_probed: 'not probed',
} as const;

const HEALTH_PATHS = {
  up: 'M6 1L11 11H1z',
  degraded: 'M6 1L11 6L6 11L1 6z',
  down: 'M2 2L10 10M10 2L2 10',
  unknown: 'M2 6H10',
  not_probed: '',
} as const;

/** State of a chain or an endpoint, with a shape in addition to its colour. */
export function HealthMark({ state }: { readonly state: string }): VNode {
  const kind = state in HEALTH_PATHS ? (state as keyof typeof HEALTH_PATHS) : 'degraded';
  return (
    <span class={`mark health-${kind}`}>
      {HEALTH_PATHS[kind] !== '' && (
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <path d={HEALTH_PATHS[kind]} />
        </svg>
      )}
      {state in HEALTH_WORDS ? HEALTH_WORDS[kind] : state.replaceAll('_', ' ')}
    </span>
  );
}

/** Share of full matches as a bar, with its value. */
export function ShareBar({ full, partial }: MatchCounts): VNode {
  const all = full + partial;
  if (all === 0) return <span class="quiet">–</span>;
  const share = full / all;
  return (
    <span class="share">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="rest" width="100" height="8" />
        <rect class="part" width={(share * 100).toFixed(2)} height="8" />
      </svg>
      <span class="share-figure">{formatShare(share)}</span>
    </span>
  );
}
