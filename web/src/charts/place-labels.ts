/**
 * Keeps labels apart that stand in a column. Each comes as near to its place as those before it let it, all stay
 * within the height, and their order is that of their places. Where they do not fit they share the height evenly.
 * @param wanted The middles of the labels as they should be.
 * @param size The height of a label.
 * @returns The middles of the labels, in the order that was given.
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
