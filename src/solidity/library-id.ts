/** Splits `path:Name` of a contract or library; compilers before 0.5 may omit the path, which is then empty. */
export function splitQualifiedName(id: string): readonly [path: string, name: string] {
  const colon = id.lastIndexOf(':');
  return [id.slice(0, Math.max(0, colon)), id.slice(colon + 1)];
}

/**
 * Groups values by `path:Name` into path -> Name -> value, the form of `settings.libraries`. Later entries
 * for the same id win. Runs in linear time, even with thousands of entries for one path.
 */
export function groupByPath<T>(
  entries: Iterable<readonly [id: string, value: T]>,
): Record<string, Record<string, T>> {
  const byPath = new Map<string, Map<string, T>>();
  for (const [id, value] of entries) {
    const [path, name] = splitQualifiedName(id);
    const named = byPath.get(path) ?? new Map<string, T>();
    byPath.set(path, named);
    named.set(name, value);
  }
  return Object.fromEntries([...byPath].map(([path, named]) => [path, Object.fromEntries(named)]));
}
