import { type VNode } from 'preact';
import { formatChains, formatChange, formatCount, formatTime } from '../format.ts';
import { type MatchCounts } from '../answers.ts';
import { type Totals } from './overview-data.ts';

/** The totals with what they mean, how they changed, and the moment that they are true for. */
export function Figures({ totals: known }: { readonly totals: Totals }): VNode {
  const { totals, changes, claimed, asOf } = known;
  const all = ({ full, partial }: MatchCounts): number => full + partial;
  return (
    <>
      <dl class="figures">
        <Figure
          name="Verified contracts"
          value={all(totals)}
          day={all(changes.day)}
          week={all(changes.week)}
          meaning={`on ${formatChains(totals.chains)}, each address counted once at its best match`}
          claimed={all(claimed)}
        />
        <Figure
          name="Full matches"
          value={totals.full}
          day={changes.day.full}
          week={changes.week.full}
          meaning="Code and metadata are identical: names, comments and paths are those of the author"
          claimed={claimed.full}
        />
        <Figure
          name="Partial matches"
          value={totals.partial}
          day={changes.day.partial}
          week={changes.week.partial}
          meaning="The code is identical; names and comments are not proven"
          claimed={claimed.partial}
        />
        <Figure
          name="Distinct codes"
          value={totals.uniqueCodes}
          meaning="Different runtime codes that were ever verified, as far as the codes are known"
        />
      </dl>
      <p class="quiet as-of">
        Updated <time dateTime={asOf}>{formatTime(asOf)}</time>
      </p>
    </>
  );
}

function Figure({
  name,
  value,
  day,
  week,
  meaning,
  claimed = 0,
}: {
  readonly name: string;
  readonly value: number;
  readonly day?: number;
  readonly week?: number;
  readonly meaning: string;
  readonly claimed?: number;
}): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{formatCount(value)}</dd>
      {day !== undefined && week !== undefined && (
        <dd class="change">
          <span>{formatChange(day)} in 24 h</span> <span>{formatChange(week)} in 7 d</span>
        </dd>
      )}
      <dd class="meaning">{meaning}</dd>
      {claimed > 0 && (
        <dd class="meaning">
          {formatCount(claimed)} of them {claimed === 1 ? 'is a claim' : 'are claims'} of another
          service, not checked here
        </dd>
      )}
    </div>
  );
}
