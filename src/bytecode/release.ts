/** Whether a release, `0.4.1`, is the first one or a later one. A build between releases is neither. */
export function isSince(release: string, first: readonly number[]): boolean {
  const numbers = release.split('.').map(Number);
  const at = first.findIndex((each, index) => each !== numbers[index]);
  return at === -1 || (numbers[at] ?? 0) > (first[at] ?? 0);
}
