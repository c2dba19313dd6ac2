/** A longer query is taken by no server. */
const LINK_CHARACTERS = 4_000;
/** Of a path that is shown: as long as any project's, with both of its ends. */
const PATH_CHARACTERS = 990;

/** The query that shows a source on a page of files; undefined where no link can hold it. */
export function queryOfSource(path: string, after: string | undefined): string | undefined {
  return queryWithin({ source: path, ...(after !== undefined && { files: after }) });
}

/** The query of the files behind a path; undefined where no link can hold it. */
export function queryOfFiles(after: string): string | undefined {
  return queryWithin({ files: after });
}

function queryWithin(members: Readonly<Record<string, string>>): string | undefined {
  if (Object.values(members).some(({ length }) => length > LINK_CHARACTERS)) return undefined;
  const query = new URLSearchParams(members).toString();
  return query.length > LINK_CHARACTERS ? undefined : query;
}

/** A path as it is, or the beginning and the end of a long one. */
export function cutPath(path: string): string {
  const half = PATH_CHARACTERS / 2;
  return path.length > PATH_CHARACTERS ? `${path.slice(0, half)}…${path.slice(-half)}` : path;
}

/** Paths as {@link cutPath} shows them, by path. Several that would look the same have a number in their middle. */
export function cutPaths(paths: readonly string[]): ReadonlyMap<string, string> {
  const seen = new Map<string, number>();
  return new Map(
    paths.map((path) => {
      const cut = cutPath(path);
      const number = (seen.get(cut) ?? 0) + 1;
      seen.set(cut, number);
      return [path, cut === path || number === 1 ? cut : cut.replace('…', `…(${number})…`)];
    }),
  );
}

/** The first entries whose texts together are short enough for one page; the first is always among them. */
export function takeWithin<Entry>(
  entries: readonly Entry[],
  charactersOf: (entry: Entry) => number,
  room: number,
): readonly Entry[] {
  let used = 0;
  const end = entries.findIndex((entry, index) => {
    used += charactersOf(entry);
    return used > room && index > 0;
  });
  return end === -1 ? entries : entries.slice(0, end);
}
