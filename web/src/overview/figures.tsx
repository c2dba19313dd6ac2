import { type VNode } from 'preact';
import { formatChains, formatChange, formatCount, formatTime } from '../format.ts';
import { allOf, verifiedOf } from '../counts-apart.ts';
import { MatchShape, type MatchKind } from '../parts/match-mark.tsx';
import { type Totals } from './overview-data.ts';

/** Counts of contracts verified here, separately those of other services' claims, and the time of both. */
export function Figures({ totals: known }: { readonly totals: Totals }): VNode {
  const { totals, changes, claims, asOf } = known;
  const isCodeKnown = totals.uniqueCodes > 0 || allOf(totals) === 0;
  return (
    <>
      <dl class="figures">
        <Figure name="Verified contracts" value={verifiedOf(totals)}>
          <dd class="change">
            <span>{formatChange(verifiedOf(changes.day))} in 24 h</span>{' '}
            <span>{formatChange(verifiedOf(changes.week))} in 7 d</span>
          </dd>
        </Figure>
        <Figure name="Full matches" kind="full" value={totals.full}>
          <dd class="meaning">verified here, down to the comments</dd>
        </Figure>
        <Figure name="Partial matches" kind="partial" value={totals.partial}>
          <dd class="meaning">verified here; names and comments not proven</dd>
        </Figure>
        {totals.claimed > 0 && (
          <Figure name="Claims" kind="claimed" value={totals.claimed}>
            <dd class="meaning">
              reported by another service, not checked here: {formatCount(claims.full)} full,{' '}
              {formatCount(claims.partial)} partial
            </dd>
          </Figure>
        )}
      </dl>
      <p class="quiet as-of">
        On {formatChains(totals.chains)}. Unique bytecodes{' '}
        {isCodeKnown ? formatCount(totals.uniqueCodes) : 'unknown'}. Updated{' '}
        <time dateTime={asOf}>{formatTime(asOf)}</time>.
      </p>
    </>
  );
}

function Figure({
  name,
  kind,
  value,
  children,
}: {
  readonly name: string;
  readonly kind?: MatchKind;
  readonly value: number;
  readonly children: VNode;
}): VNode {
  return (
    <div>
      <dt>
        {kind !== undefined && (
          <span class={`match ${kind}`}>
            <MatchShape kind={kind} />{' '}
          </span>
        )}
        {name}
      </dt>
      <dd>{formatCount(value)}</dd>
      {children}
    </div>
  );
}
