/** Lines of a source in a URL fragment: `#Token.sol:L10-L20`, or `#L10` of the shown source. */
export interface LineRange {
  /** The end of the path; absent for the shown source. */
  readonly file?: string;
  readonly first: number;
  readonly last: number;
}

const FRAGMENT = /^#(?:(.{1,1000}):)?L(\d{1,7})(?:-L(\d{1,7}))?$/;

/** Parses the lines in a fragment; undefined if it has none. */
export function readLineRange(fragment: string): LineRange | undefined {
  let text: string;
  try {
    text = decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
  const [, file, from, to = from] = FRAGMENT.exec(text) ?? [];
  if (from === undefined) return undefined;
  const [one, other] = [Number(from), Number(to)];
  const [first, last] = [Math.min(one, other), Math.max(one, other)];
  return { ...(file !== undefined && { file }), first, last };
}

/** The fragment for lines of a source. */
export function fragmentOf(path: string, first: number, last: number): string {
  const file = encodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  return `#${file}:L${first}${last === first ? '' : `-L${last}`}`;
}

/** Whether a link's path suffix refers to a path. */
export function isNamedBy(path: string, file: string): boolean {
  return path === file || path.endsWith(`/${file}`);
}
