/**
 * Runs `work` on each item with up to `concurrency` at once and yields the results in the order of the items.
 * At most `concurrency` results are buffered, so memory is bounded for any source. An error of `work` or of
 * the source is thrown at its position in the order; the source is closed in any case.
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
      // A rejection is thrown when its turn comes; until then it must not count as unhandled.
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
