import { type VNode } from 'preact';

/** A slider that steps through the days of a chart by keyboard and announces their values. */
export function Reading({
  dates,
  index,
  onIndex,
  figures,
}: {
  readonly dates: readonly string[];
  /** The selected day; undefined if none is. */
  readonly index: number | undefined;
  readonly onIndex: (index: number | undefined) => void;
  /** Values of the selected day, with their names. */
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
