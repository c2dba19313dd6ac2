import { type VNode } from 'preact';
import { placeLabels } from './place-labels.ts';
import { SafeText } from '../parts/safe-text.tsx';

/** The end of a line, with its label. */
interface LineEnd {
  readonly key: string;
  readonly name: string;
  readonly look: string;
  readonly figure: string;
  readonly y: number;
}

/** Two lines of text. */
const LABEL_HEIGHT = 32;

/** Names and last values next to the ends of the lines, each with a sample of its line. */
export function EndLabels({
  ends,
  height,
}: {
  readonly ends: readonly LineEnd[];
  readonly height: number;
}): VNode {
  const places = placeLabels(
    ends.map(({ y }) => y),
    LABEL_HEIGHT,
    height,
  );
  return (
    <svg class="chart-ends" height={height}>
      {ends.map(({ key, name, look, figure, y }, index) => {
        const middle = places[index] ?? y;
        return (
          <g key={key}>
            <path class="leader" d={`M5 ${y}L13 ${middle}`} />
            <path class={`line ${look}`} d={`M14 ${middle}H38`} />
            <foreignObject x="43" y={middle - LABEL_HEIGHT / 2} height={LABEL_HEIGHT}>
              <p class="chart-end">
                <SafeText text={name} />
                <strong>{figure}</strong>
              </p>
            </foreignObject>
          </g>
        );
      })}
    </svg>
  );
}
