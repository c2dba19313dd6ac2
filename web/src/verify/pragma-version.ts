/** A release as three numbers. */
type Release = readonly [number, number, number];

interface Bound {
  readonly sign: string;
  readonly parts: readonly number[];
}

const COMPARATOR =
  /^(\^|~|>=|<=|>|<|=)?\s{0,8}v?(\d{1,3})(?:\.(\d{1,3}|[x*]))?(?:\.(\d{1,3}|[x*]))?$/;
const MAX_COMPARATORS = 32;

function releaseOf(longVersion: string): Release | undefined {
  const [, major, minor, patch] =
    /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\+|$)/.exec(longVersion) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function compare(left: Release, right: Release): number {
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

function readBound(text: string): Bound | undefined {
  const [, sign = '', ...digits] = COMPARATOR.exec(text) ?? [];
  if (digits.length === 0) return undefined;
  const numbers = digits.map((each) => (/^\d+$/.test(each ?? '') ? Number(each) : undefined));
  const end = numbers.indexOf(undefined);
  return { sign, parts: (end < 0 ? numbers : numbers.slice(0, end)) as number[] };
}

/** Returns the first release after those that start with these numbers. */
function after(parts: readonly number[]): Release {
  const [major = 0, minor = 0, patch = 0] = parts;
  if (parts.length === 1) return [major + 1, 0, 0];
  return parts.length === 2 ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

function isWithin(release: Release, { sign, parts }: Bound): boolean {
  const [major = 0, minor = 0, patch = 0] = parts;
  const least: Release = [major, minor, patch];
  const isAtLeast = compare(release, least) >= 0;
  switch (sign) {
    case '>=':
      return isAtLeast;
    case '>':
      return compare(release, after(parts)) >= 0;
    case '<':
      return !isAtLeast;
    case '<=':
      return compare(release, after(parts)) < 0;
    case '^':
      // As in npm ranges, the first non-zero number must not change.
      return isAtLeast && compare(release, after(caretOf(parts))) < 0;
    case '~':
      return isAtLeast && compare(release, after(parts.slice(0, 2))) < 0;
    default:
      return isAtLeast && compare(release, after(parts)) < 0;
  }
}

function caretOf(parts: readonly number[]): readonly number[] {
  const first = parts.findIndex((part) => part !== 0);
  return first < 0 ? parts : parts.slice(0, first + 1);
}

/**
 * Returns whether a release satisfies the range of a `pragma solidity`; undefined if the range cannot be
 * parsed.
 * @param longVersion `0.8.30+commit.73712a01` or `0.8.30`
 */
export function satisfiesRange(longVersion: string, range: string): boolean | undefined {
  const release = releaseOf(longVersion);
  if (release === undefined) return undefined;
  const choices = range.split('||').map((choice) => {
    const joined = choice.trim().replace(/(\^|~|>=|<=|>|<|=)\s{1,64}/g, '$1');
    return joined.split(/\s+/).slice(0, MAX_COMPARATORS).map(readBound);
  });
  if (choices.flat().includes(undefined)) return undefined;
  return choices.some((bounds) =>
    bounds.every((bound) => bound !== undefined && isWithin(release, bound)),
  );
}

/** Returns the newest version that satisfies every range; undefined if there is none. */
export function newestSatisfying(
  longVersions: readonly string[],
  ranges: readonly string[],
): string | undefined {
  const fitting = longVersions.filter((version) =>
    ranges.every((each) => satisfiesRange(version, each) === true),
  );
  return fitting.sort((left, right) =>
    compare(releaseOf(right) ?? [0, 0, 0], releaseOf(left) ?? [0, 0, 0]),
  )[0];
}
