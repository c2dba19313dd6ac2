/** Lines of a source that a link names: `#Token.sol:L10-L20`, or `#L10` of the source that is shown. */
export interface LineRange {
  /** The end of the path; absent where the source that is shown is meant. */
  readonly file?: string;
  readonly first: number;
  readonly last: number;
}

const FRAGMENT = /^#(?:(.{1,1000}):)?L(\d{1,7})(?:-L(\d{1,7}))?$/;

/** The lines that a fragment names; undefined where it names none. */
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

/** The fragment of lines of a source. */
export function fragmentOf(path: string, first: number, last: number): string {
  const file = encodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  return `#${file}:L${first}${last === first ? '' : `-L${last}`}`;
}

/** Whether a path is the one that a link means by its end. */
export function isNamedBy(path: string, file: string): boolean {
  return path === file || path.endsWith(`/${file}`);
}
