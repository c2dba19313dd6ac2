/**
 * Runs `work` on each item with up to `concurrency` at once and yields the results in the order of the items.
 * Never more than `concurrency` results wait, so memory stays bounded however long the source is.
 * When `work` or the source fails, the failure is thrown at its place in the order; the source is closed either way.
 */
export async function* mapInOrder<Item, Result>(
  items: AsyncIterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const running: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // The rejection is met at its turn; until then it is not an unhandled one.
      result.catch(() => undefined);
      running.push(result);
      const first = running.length < concurrency ? undefined : running.shift();
      if (first !== undefined) yield await first;
    }
    while (running.length > 0) {
      const first = running.shift();
      if (first !== undefined) yield await first;
    }
  } finally {
    await Promise.allSettled(running);
  }
}
