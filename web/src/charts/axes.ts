import { nice, ticks } from 'd3-array';
import { utcTicks } from 'd3-time';
import { formatCount } from '../format.ts';

/** Scale of values: counts, counts on a logarithmic scale, or a percentage. */
export type ChartScale = 'linear' | 'log' | 'share';

/** A labelled value and its position on an axis. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** Positions of values along one axis. */
export interface Axis {
  readonly place: (value: number) => number;
  readonly ticks: readonly Tick[];
}

const VALUE_TICKS = 4;
const TIME_TICKS = 8;
const DAY_MS = 86_400_000;
/** Room for half a line width at the edges. */
const ROOM = 2;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

type Place = Axis['place'];
type Pair = readonly [number, number];

/** Positions of a range of values on a range of positions; a range of length zero maps to the middle. */
function placeBetween([low, high]: Pair, [from, to]: Pair): Place {
  return (value) => from + (to - from) * (high === low ? 0.5 : (value - low) / (high - low));
}

/**
 * Value axis from the bottom to the top. It begins at zero, or near the least value if `fit` is set, for a
 * single line where only the change matters.
 */
export function valueAxis(
  values: readonly number[],
  scale: ChartScale,
  height: number,
  fit = false,
): Axis {
  const range: Pair = [height - ROOM, ROOM];
  if (scale === 'share') {
    const place = placeBetween([0, 100], range);
    return { place, ticks: ticksAt([0, 25, 50, 75, 100], place, (value) => `${value}%`) };
  }
  if (scale === 'log') return logAxis(values, range);
  const least = Math.min(...values);
  const most = Math.max(...values);
  // A constant line is drawn in the middle.
  const room = fit && least === most ? 1 : 0;
  const low = fit ? Math.max(0, least - room) : Math.min(0, least);
  const ends = nice(low, Math.max(most + room, low + 1), VALUE_TICKS);
  const place = placeBetween(ends, range);
  // Contracts are counted in whole numbers.
  const whole = ticks(...ends, VALUE_TICKS).filter(Number.isInteger);
  return { place, ticks: ticksAt(whole, place, formatShort) };
}

/** From the power of ten below the least value to the one above the largest. */
function logAxis(values: readonly number[], range: Pair): Axis {
  const shown = values.filter((value) => value > 0);
  const low = shown.length === 0 ? 0 : Math.floor(Math.log10(Math.min(...shown)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(1, ...shown))));
  const placePower = placeBetween([low, high], range);
  const place: Place = (value) => placePower(Math.log10(value));
  const step = Math.ceil((high - low) / VALUE_TICKS);
  const powers: number[] = [];
  for (let power = low; power <= high; power += step) powers.push(10 ** power);
  return { place, ticks: ticksAt(powers, place, formatShort) };
}

function ticksAt(
  values: readonly number[],
  place: Place,
  write: (value: number) => string,
): Tick[] {
  return values.map((value) => ({ at: place(value), label: write(value) }));
}

const UNITS = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** A round number as an axis label: `45 M`, `2.5 k`. */
function formatShort(value: number): string {
  const [size, unit] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [1, ''];
  const short = value / size;
  return Number.isInteger(short * 100) ? `${short}\u00a0${unit}`.trim() : formatCount(value);
}

/** Time axis from left to right, with labels at round positions. A single day is drawn in the middle. */
export function timeAxis(dates: readonly string[], width: number): Axis {
  const [first = 0, last = 0] = [dates[0], dates.at(-1)].map((date) => Date.parse(date ?? ''));
  const place = placeBetween([first, last], [0, width]);
  const days = utcTicks(new Date(first), new Date(last), TIME_TICKS).filter(
    (time) => time.getTime() % DAY_MS === 0,
  );
  const areMonths = days.every((time) => time.getUTCDate() === 1);
  const write = (time: Date): string => {
    const month = MONTHS[time.getUTCMonth()] ?? '';
    if (!areMonths) return `${time.getUTCDate()} ${month}`;
    return time.getUTCMonth() === 0 ? String(time.getUTCFullYear()) : month;
  };
  return {
    place,
    ticks: days.map((time) => ({ at: place(time.getTime()), label: write(time) })),
  };
}
