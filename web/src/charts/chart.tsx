import { type VNode } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import { useHydrated } from '../use-hydrated.ts';
import { AxisLines, ValueNames } from './axis-lines.tsx';
import { EndLabels } from './end-labels.tsx';
import { formatFigure } from './format-figure.ts';
import { Hatch, hatched } from './hatch.tsx';
import { type WithdrawalMark } from './join-withdrawals.ts';
import { type ChartLayout, type Drawing, layOut, WIDTH } from './lay-out.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Reading } from './reading.tsx';
import './chart.css';

interface ChartProps extends Drawing {
  /** Decreases, each on the series of its key. */
  readonly marks: readonly (WithdrawalMark & { readonly on: string })[];
  /** Text alternative of the chart. */
  readonly message: string;
}

const DAYS_HEIGHT = 22;
const TIP_WIDTH = 190;

/**
 * Lines or bars over days: labels and last values at their ends, and a tooltip with the values of the day
 * under the pointer.
 */
export function Chart(props: ChartProps): VNode {
  const { dates, series, scale, height, message } = props;
  const [pointed, setPointed] = useState<number>();
  const isHydrated = useHydrated();
  const layout = useMemo(() => layOut(props), [dates, series, scale]);
  const last = dates.length - 1;
  const shown = pointed ?? last;
  const point = (event: PointerEvent & { readonly currentTarget: SVGElement }): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setPointed(layout.nearest((event.clientX - left) / width));
  };
  return (
    <div class="chart">
      <div class="chart-drawing" role="img" aria-label={message}>
        <svg
          class="chart-field"
          height={height + DAYS_HEIGHT}
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={() => setPointed(undefined)}
        >
          <rect class="chart-ground" width="100%" height={height} />
          <AxisLines x={layout.x} y={layout.y} height={height} />
          <Paths {...props} layout={layout} />
          <ValueNames y={layout.y} />
          {pointed !== undefined && (
            <line class="cursor" x1={layout.left(shown)} x2={layout.left(shown)} y2={height} />
          )}
          {props.as !== 'bars' &&
            series.map(
              ({ key, look, values }, line) =>
                typeof values[shown] === 'number' && (
                  <circle
                    key={key}
                    class={`point ${look}`}
                    cx={layout.left(shown)}
                    cy={layout.top(line, shown)}
                    r="3"
                  />
                ),
            )}
          <WithdrawalMarks {...props} layout={layout} />
        </svg>
        {pointed !== undefined && (
          <Tip {...props} layout={layout} index={pointed} isRight={pointed > last / 2} />
        )}
        <EndLabels
          height={height + DAYS_HEIGHT}
          ends={series.map(({ values, ...rest }, line) => ({
            ...rest,
            figure: formatFigure(values[last] ?? null, scale),
            y: layout.top(line, last),
          }))}
        />
      </div>
      {isHydrated && (
        <Reading
          dates={dates}
          index={pointed}
          onIndex={setPointed}
          figures={series.map(
            ({ name, values }) => `${name} ${formatFigure(values[shown] ?? null, scale)}`,
          )}
        />
      )}
    </div>
  );
}

/** Values of a day, next to the pointer. {@link Reading} announces them to screen readers. */
function Tip({
  dates,
  series,
  scale,
  layout,
  index,
  isRight,
}: PartProps & { readonly index: number; readonly isRight: boolean }): VNode {
  const at = layout.left(index);
  // The drawing is stretched and inline styles are not allowed, so an SVG of the same width positions the
  // tooltip.
  return (
    <svg class={`chart-tip${isRight ? ' right' : ''}`} aria-hidden="true">
      <svg x={at} overflow="visible">
        <foreignObject x={isRight ? -TIP_WIDTH - 8 : 8} y="4" width={TIP_WIDTH} height="100%">
          <dl>
            <dt>{dates[index]}</dt>
            {series.map(({ key, name, look, values }) => (
              <dd key={key}>
                <i class={look} />
                <SafeText text={name} />
                <strong>{formatFigure(values[index] ?? null, scale)}</strong>
              </dd>
            ))}
          </dl>
        </foreignObject>
      </svg>
    </svg>
  );
}

interface PartProps extends ChartProps {
  readonly layout: ChartLayout;
}

function Paths({ series, as, height, layout }: PartProps): VNode {
  const hatch = useId();
  return (
    <>
      <Hatch id={hatch} look="claimed" />
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
      >
        {series.map(({ key, look }, line) =>
          as === 'bars' ? (
            <path
              key={key}
              class={`bar ${look}`}
              fill={look === 'claimed' ? hatched(hatch) : 'currentColor'}
              d={layout.paths[line]}
            />
          ) : (
            <path key={key} class={`line ${look}`} d={layout.paths[line]} />
          ),
        )}
      </svg>
    </>
  );
}

const MARK_RADIUS = 8;

/** Numbered marks of the withdrawals. */
function WithdrawalMarks({ series, marks, height, layout }: PartProps): VNode {
  return (
    <>
      {marks.map(({ number, index, on }) => {
        const line = series.findIndex(({ key }) => key === on);
        const middle = Math.min(
          height - MARK_RADIUS,
          Math.max(MARK_RADIUS, layout.top(Math.max(0, line), index)),
        );
        const left = layout.left(index);
        return (
          <g key={number} class="withdrawal-mark">
            <circle cx={left} cy={middle} r={MARK_RADIUS} />
            <text x={left} y={middle + 4}>
              {number}
            </text>
          </g>
        );
      })}
    </>
  );
}
