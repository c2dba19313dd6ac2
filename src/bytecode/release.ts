/** Returns whether a release, such as `0.4.1`, is `first` or later. False for prerelease builds. */
export function isAtLeastRelease(release: string, first: readonly number[]): boolean {
  const numbers = release.split('.').map(Number);
  const at = first.findIndex((each, index) => each !== numbers[index]);
  return at === -1 || (numbers[at] ?? 0) > (first[at] ?? 0);
}
