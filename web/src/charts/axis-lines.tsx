import { type VNode } from 'preact';
import { type Axis } from './axes.ts';
import { percentOf, WIDTH } from './lay-out.ts';

/** How many names of days a narrow chart has room for. */
const NARROW_DAYS = 3;
/** Near an edge a name stands beside its place, so that it is not cut off. */
const EDGE = WIDTH / 20;

/** What is written at the values, to be drawn over the lines so that they leave it readable. */
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

/** The grid of a chart with the names of its days. */
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
