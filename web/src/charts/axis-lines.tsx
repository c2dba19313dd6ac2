import { type VNode } from 'preact';
import { type Axis } from './axes.ts';
import { percentOf, WIDTH } from './lay-out.ts';

/** Maximum number of day labels in a narrow chart. */
const NARROW_DAYS = 2;
/** Labels near an edge are aligned inwards, so that they are not cut off. */
const EDGE = WIDTH / 20;

/** Labels of the values, drawn over the lines with a halo. */
export function ValueNames({ y }: { readonly y: Axis }): VNode {
  return (
    <g class="chart-axes">
      {y.ticks.map(({ at, label }) => (
        <text key={label} y={at - 3}>
          {label}
        </text>
      ))}
    </g>
  );
}

/** Grid of a chart with its day labels. */
export function AxisLines({
  x,
  y,
  height,
}: {
  readonly x: Axis;
  readonly y: Axis;
  readonly height: number;
}): VNode {
  const step = Math.ceil(x.ticks.length / NARROW_DAYS);
  return (
    <g class="chart-axes">
      {y.ticks.map(({ at, label }) => (
        <line key={label} x2="100%" y1={at} y2={at} />
      ))}
      {x.ticks.map(({ at, label }, index) => {
        const anchor = at < EDGE ? 'start' : at > WIDTH - EDGE ? 'end' : 'middle';
        return (
          <text
            key={at}
            class={index % step === Math.floor(step / 2) ? undefined : 'spare'}
            x={percentOf(at)}
            y={height + 16}
            text-anchor={anchor}
          >
            {label}
          </text>
        );
      })}
    </g>
  );
}
