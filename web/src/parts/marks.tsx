import { type VNode } from 'preact';
import { formatShare } from '../format.ts';
import { CountsBar } from '../charts/counts-bar.tsx';
import { type MatchCounts } from '../answers.ts';
import { verifiedOf } from '../counts-apart.ts';

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

/** Share of full matches among those verified here. */
export function Share(counts: MatchCounts): VNode {
  const verified = verifiedOf(counts);
  return verified === 0 ? <span class="quiet">–</span> : <>{formatShare(counts.full / verified)}</>;
}

/** The same with a bar of full and partial matches. */
export function ShareBar({ full, partial }: MatchCounts): VNode {
  if (full + partial === 0) return <span class="quiet">–</span>;
  return (
    <span class="share">
      <CountsBar {...{ full, partial }} claimed={0} />
      <span class="share-figure">
        <Share {...{ full, partial }} />
      </span>
    </span>
  );
}
