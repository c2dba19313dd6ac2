import { formatCount } from '../format.ts';
import { type ChartScale } from './axes.ts';

/** A figure of a chart as its texts and its table write it. */
export function formatFigure(value: number | null, scale: ChartScale): string {
  if (value === null) return '–';
  if (scale === 'share') return `${value.toFixed(1)}%`;
  return value < 0 ? `−${formatCount(-value)}` : formatCount(value);
}
