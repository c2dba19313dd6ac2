import { type VNode } from 'preact';
import { allOf, type CountsApart } from '../counts-apart.ts';

const WIDTH = 100;
/** Claims are hatched with horizontal lines, which stay even when the bar is stretched. */
const LINES = [1, 4, 7];

/**
 * Full matches, partial matches and claims side by side. The figures are next to it, so it is hidden from
 * screen readers.
 */
export function CountsBar({
  full,
  partial,
  claimed,
  most = allOf({ full, partial, claimed }),
}: CountsApart & {
  /** The count that the full width represents: the sum of these counts if absent. */
  readonly most?: number;
}): VNode {
  const counted = full + partial + claimed;
  const place = (count: number): string => ((WIDTH * count) / Math.max(1, most)).toFixed(2);
  const [verified, all] = [place(full + partial), place(counted)];
  return (
    <svg class="counts-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {counted < most && <rect class="rest" x={all} width={place(most - counted)} height="8" />}
      {full > 0 && <rect class="full" width={place(full)} height="8" />}
      {partial > 0 && <rect class="partial" x={place(full)} width={place(partial)} height="8" />}
      {claimed > 0 && (
        <path class="claimed" d={LINES.map((y) => `M${verified} ${y}H${all}`).join('')} />
      )}
    </svg>
  );
}
