/** Room above and below the line, so that its width is not cut off. */
const ROOM = 4;

/**
 * The path of a line through values, from edge to edge: the smallest value lies at the bottom, the largest at the top.
 * Values that are all the same lie in the middle, since they neither rise nor fall.
 */
export function trendPath(values: readonly number[], width: number, height: number): string {
  const low = Math.min(...values);
  const span = Math.max(...values) - low;
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map((value, index) => {
    const share = span === 0 ? 0.5 : (value - low) / span;
    const y = height - ROOM - share * (height - 2 * ROOM);
    return `${round(index * step)} ${round(y)}`;
  });
  if (points.length === 1) points.push(`${width} ${points[0]?.split(' ')[1] ?? ''}`);
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
