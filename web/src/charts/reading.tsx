import { type VNode } from 'preact';

/** Walks through the days of a chart by the keys of a slider, and says the figures of the day. */
export function Reading({
  dates,
  index,
  onIndex,
  figures,
}: {
  readonly dates: readonly string[];
  /** The day that is looked at; undefined while none is. */
  readonly index: number | undefined;
  readonly onIndex: (index: number | undefined) => void;
  /** The figures of the chosen day, with their names. */
  readonly figures: readonly string[];
}): VNode {
  const last = dates.length - 1;
  const at = index ?? last;
  return (
    <>
      <input
        class="unseen"
        type="range"
        aria-label="Day of the chart"
        aria-valuetext={dates[at]}
        max={last}
        value={at}
        onInput={(event) => onIndex(Number(event.currentTarget.value))}
        onFocus={() => onIndex(at)}
        onBlur={() => onIndex(undefined)}
      />
      <output class="unseen">
        {index !== undefined && `${dates[at] ?? ''}: ${figures.join(' · ')}`}
      </output>
    </>
  );
}
