import { formatCount } from '../format.ts';
import { type ChartScale } from './axes.ts';

/** Formats a value of a chart for its text and its table. */
export function formatFigure(value: number | null, scale: ChartScale): string {
  if (value === null) return '–';
  if (scale === 'share') return `${value.toFixed(1)}%`;
  return value < 0 ? `−${formatCount(-value)}` : formatCount(value);
}
