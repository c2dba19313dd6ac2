import { type VNode } from 'preact';
import { formatChains, formatChange, formatCount, formatTime } from '../format.ts';
import { type MatchCounts } from '../answers.ts';
import { MatchShape, type MatchKind } from '../parts/match-mark.tsx';
import { type Totals } from './overview-data.ts';

const all = ({ full, partial }: MatchCounts): number => full + partial;

/** The totals, with verified and claimed ones apart, and their time. */
export function Figures({ totals: known }: { readonly totals: Totals }): VNode {
  const { totals, changes, claimed, asOf } = known;
  const isCodeKnown = totals.uniqueCodes > 0 || all(totals) === 0;
  return (
    <>
      <dl class="figures">
        <Figure name="Contracts" value={all(totals)}>
          <dd class="change">
            <span>{formatChange(all(changes.day))} in 24 h</span>{' '}
            <span>{formatChange(all(changes.week))} in 7 d</span>
          </dd>
        </Figure>
        <Figure name="Full matches" kind="full" value={totals.full - claimed.full}>
          <dd class="meaning">verified here, down to the comments</dd>
        </Figure>
        <Figure name="Partial matches" kind="partial" value={totals.partial - claimed.partial}>
          <dd class="meaning">verified here; names and comments not proven</dd>
        </Figure>
        {all(claimed) > 0 && (
          <Figure name="Claims" kind="claimed" value={all(claimed)}>
            <dd class="meaning">
              reported by another service, not checked here: {formatCount(claimed.full)} full,{' '}
              {formatCount(claimed.partial)} partial
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
