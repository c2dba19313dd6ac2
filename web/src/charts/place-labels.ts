/**
 * Spreads labels in a column so that they do not overlap. Each is as close to its wanted position as the
 * previous ones allow, all stay within the height, and their order is kept. If they do not fit, they share
 * the height evenly.
 * @param wanted wanted middles of the labels
 * @param size height of a label
 * @returns middles of the labels, in the given order
 */
export function placeLabels(wanted: readonly number[], size: number, height: number): number[] {
  const step = Math.min(size, height / Math.max(1, wanted.length));
  const order = wanted.map((_, index) => index);
  order.sort((left, right) => (wanted[left] ?? 0) - (wanted[right] ?? 0));
  const placed: number[] = [];
  let free = step / 2;
  for (const index of order) {
    placed[index] = Math.max(free, wanted[index] ?? 0);
    free = placed[index] + step;
  }
  let limit = height - step / 2;
  for (const index of order.reverse()) {
    placed[index] = Math.min(limit, placed[index] ?? 0);
    limit = placed[index] - step;
  }
  return placed;
}
