import { h, type VNode } from 'preact';
import { RING_SIZE, type RingShape, ringParts } from '../../../src/lib/ring-shapes.ts';
import { type Match } from '../contract/verdict.ts';
import './match-mark.css';

const SHAPES = {
  full: 'filled',
  partial: 'half',
  claimed: 'dashed',
  none: 'empty',
  withdrawn: 'struck',
} as const satisfies Record<string, RingShape>;

/** States that a mark can show. */
export type MatchKind = keyof typeof SHAPES;

/** The ring of a verdict. The logo, the icon and badges draw the same rings. */
export function MatchShape({
  kind,
  size = 14,
}: {
  readonly kind: MatchKind;
  readonly size?: number;
}): VNode {
  return (
    <svg viewBox={`0 0 ${RING_SIZE} ${RING_SIZE}`} width={size} height={size} aria-hidden="true">
      {ringParts(SHAPES[kind]).map(([tag, attributes]) => h(tag, { key: tag, ...attributes }))}
    </svg>
  );
}

/** A match by shape, colour and word. */
export function MatchMark({
  match,
  isClaimed = false,
}: {
  /** Null if there is none. */
  readonly match: Match | 'withdrawn' | null;
  readonly isClaimed?: boolean;
}): VNode {
  const isDashed = isClaimed && (match === 'full' || match === 'partial');
  const kind = match ?? 'none';
  return (
    <span class={`match ${isDashed ? 'claimed' : kind}`}>
      <MatchShape kind={isDashed ? 'claimed' : kind} /> {isDashed ? `claimed ${kind}` : kind}
    </span>
  );
}
