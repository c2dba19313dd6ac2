import { timeOf } from '../tables/field-table.ts';
import { type RowKey } from '../tables/read-table.ts';

/** The position of a row in the order of its table. */
export const placeOf = ({ at, key }: RowKey): string => `${timeOf(at)} ${key}`;
/** Distinguishes the rows of a table. */
export const idOf = ({ at, key }: RowKey): string => `${at} ${key}`;

interface RowGroup {
  readonly last: string;
  readonly versions: ReadonlyMap<string, string>;
}

/**
 * Finds the rows of pages in a file. Files and pages are both sorted, so each row group is read once; the one at
 * the end of the last page is kept, because the next page may begin in it.
 */
export class KeyWindow {
  readonly #groups: AsyncIterator<readonly RowKey[]>;
  #current: RowGroup | undefined;

  constructor(groups: AsyncIterable<readonly RowKey[]>) {
    this.#groups = groups[Symbol.asyncIterator]();
  }

  /** Returns the versions of those rows of a page that the file contains, by {@link idOf}. */
  async versionsOf(page: readonly RowKey[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const [first, last] = [page[0], page.at(-1)];
    if (first === undefined || last === undefined) return found;
    for (;;) {
      this.#current ??= await this.#readFrom(placeOf(first));
      if (this.#current === undefined) return found;
      for (const key of page) {
        const version = this.#current.versions.get(idOf(key));
        if (version !== undefined) found.set(idOf(key), version);
      }
      if (this.#current.last >= placeOf(last)) return found;
      this.#current = undefined;
    }
  }

  /** Reads the next row group that ends at a place or after it. */
  async #readFrom(from: string): Promise<RowGroup | undefined> {
    for (;;) {
      const group = await this.#groups.next();
      if (group.done === true) return undefined;
      const last = group.value.at(-1);
      if (last === undefined || placeOf(last) < from) continue;
      const versions = new Map(group.value.map((key) => [idOf(key), key.version ?? '']));
      return { last: placeOf(last), versions };
    }
  }
}
