import { type VNode } from 'preact';
import { type Match } from '../contract/verdict.ts';
import './match-mark.css';

const WORDS = { full: 'full', partial: 'partial', none: 'none' } as const;

/**
 * A match by shape, colour and word: a filled disc, half of one, a dashed ring where it is the word of another service, or
 * a ring.
 */
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
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <circle
          cx="8"
          cy="8"
          r="6.5"
          fill="none"
          stroke="currentColor"
          stroke-width="2"
          {...(isDashed && { 'stroke-dasharray': '3.4 3.4' })}
        />
        {!isDashed && kind === 'full' && <circle cx="8" cy="8" r="6" fill="currentColor" />}
        {!isDashed && kind === 'partial' && <path d="M8 2a6 6 0 0 0 0 12z" fill="currentColor" />}
      </svg>{' '}
      {isDashed ? `claimed ${WORDS[kind]}` : WORDS[kind]}
    </span>
  );
}
