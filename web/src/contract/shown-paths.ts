/** Servers do not accept longer queries. */
const LINK_CHARACTERS = 4_000;
/** Maximum length of a shown path, with both of its ends; long enough for any project. */
const PATH_CHARACTERS = 990;

/** Query that shows a source on a page of files; undefined if no URL can contain it. */
export function queryOfSource(path: string, after: string | undefined): string | undefined {
  return queryWithin({ source: path, ...(after !== undefined && { files: after }) });
}

/** Query for the files after a path; undefined if no URL can contain it. */
export function queryOfFiles(after: string): string | undefined {
  return queryWithin({ files: after });
}

function queryWithin(members: Readonly<Record<string, string>>): string | undefined {
  if (Object.values(members).some(({ length }) => length > LINK_CHARACTERS)) return undefined;
  const query = new URLSearchParams(members).toString();
  return query.length > LINK_CHARACTERS ? undefined : query;
}

/** A path, shortened in the middle if it is long. */
export function cutPath(path: string): string {
  const half = PATH_CHARACTERS / 2;
  return path.length > PATH_CHARACTERS ? `${path.slice(0, half)}…${path.slice(-half)}` : path;
}

/** Paths as {@link cutPath} shortens them, by path. Paths that would look equal get a number in the middle. */
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

/** The first entries whose text fits on one page, at least one. */
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
