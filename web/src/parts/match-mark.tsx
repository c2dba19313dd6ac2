import { type VNode } from 'preact';
import { type Match } from '../contract/verdict.ts';
import './match-mark.css';

const WORDS = { full: 'full', partial: 'partial', none: 'none' } as const;

/** What a mark can express. */
export type MatchKind = 'full' | 'partial' | 'claimed' | 'none';

/**
 * Shape of a verdict: a filled disc for a full match, a half-filled one for a partial match, a dashed ring
 * for a claim, an empty ring for no match. The same shapes are used in the logo, the icon, badges and cards.
 */
export function MatchShape({
  kind,
  size = 14,
}: {
  readonly kind: MatchKind;
  readonly size?: number;
}): VNode {
  return (
    <svg viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <circle
        cx="8"
        cy="8"
        r="6.5"
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        {...(kind === 'claimed' && { 'stroke-dasharray': '3.4 3.4' })}
      />
      {kind === 'full' && <circle cx="8" cy="8" r="4" fill="currentColor" />}
      {kind === 'partial' && <path d="M8 2a6 6 0 0 0 0 12z" fill="currentColor" />}
    </svg>
  );
}

/** A match by shape, colour and word. */
export function MatchMark({
  match,
  isClaimed = false,
}: {
  readonly match: Match | null;
  readonly isClaimed?: boolean;
}): VNode {
  const kind = match ?? 'none';
  const isDashed = isClaimed && match !== null;
  return (
    <span class={`match ${isDashed ? 'claimed' : kind}`}>
      <MatchShape kind={isDashed ? 'claimed' : kind} />{' '}
      {isDashed ? `claimed ${WORDS[kind]}` : WORDS[kind]}
    </span>
  );
}
