import { type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type HistoryPoint } from '../shapes.ts';
import { type Scale, toLines } from './series.ts';

interface Props {
  readonly points: readonly HistoryPoint[];
  readonly scale: Scale;
  readonly label: string;
}

const HEIGHT = 280;
const WHOLE_STEPS = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

const formatDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** The lines of a history, with the figures under the pointer. Where no script runs the table beside it says the same. */
export function HistoryChart({ points, scale, label }: Props): VNode {
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'waiting' | 'drawn' | 'failed'>('waiting');
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const darkness = matchMedia('(prefers-color-scheme: dark)');
    let end: (() => void) | undefined;
    let isOver = false;
    const redraw = (): void => {
      drawChart(element, points, scale).then(
        (stop) => {
          end?.();
          if (isOver) stop();
          else {
            end = stop;
            setState('drawn');
          }
        },
        () => setState('failed'),
      );
    };
    redraw();
    darkness.addEventListener('change', redraw);
    return () => {
      isOver = true;
      darkness.removeEventListener('change', redraw);
      end?.();
    };
  }, [points, scale]);
  return (
    <>
      <div class="chart" ref={place} role="img" aria-label={label} />
      {state === 'failed' && (
        <p class="quiet">The chart could not be drawn; the table has its figures.</p>
      )}
    </>
  );
}

/** Draws with uPlot, which is loaded here first. @returns what takes the chart away. */
async function drawChart(
  element: HTMLElement,
  points: readonly HistoryPoint[],
  scale: Scale,
): Promise<() => void> {
  const [{ default: Chart }] = await Promise.all([
    import('uplot'),
    import('uplot/dist/uPlot.min.css'),
  ]);
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const lines = toLines(points, scale);
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 } };
  const unit = scale === 'share' ? '\u00a0%' : '';
  const format = (value: number | null): string =>
    value === null
      ? '–'
      : `${scale === 'share' ? value.toFixed(1) : value.toLocaleString('en-US').replaceAll(',', '\u202f')}${unit}`;
  const chart = new Chart(
    {
      width: element.clientWidth,
      height: HEIGHT,
      tzDate: (seconds) => Chart.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      scales: {
        // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the enum of uPlot is only in its types
        y:
          scale === 'log'
            ? { distr: 3 }
            : {
                range: (_, least, most) =>
                  scale === 'share' ? [0, 100] : [Math.min(0, least), Math.max(1, most)],
              },
      },
      axes: [
        { ...axis, space: 90, values: (_, values) => values.map(formatDay) },
        {
          ...axis,
          size: 84,
          values: (_, values) => values.map((value) => format(value)),
          // There is no half of a contract.
          ...(scale === 'linear' && { incrs: WHOLE_STEPS }),
        },
      ],
      series: [
        { label: 'Day', value: '{YYYY}-{MM}-{DD}' },
        ...lines.map(({ name }) => ({
          label: scale === 'share' ? 'full, of all' : name,
          stroke: colour(`--${name}`),
          width: 2,
          ...(name === 'partial' && { dash: [6, 4] }),
          points: { show: false },
          value: (_: unknown, value: number | null) => format(value),
        })),
      ],
    },
    [points.map(({ date }) => Date.parse(date) / 1000), ...lines.map(({ values }) => [...values])],
    element,
  );
  const watcher = new ResizeObserver(() =>
    chart.setSize({ width: element.clientWidth, height: HEIGHT }),
  );
  watcher.observe(element);
  return () => {
    watcher.disconnect();
    chart.destroy();
  };
}
