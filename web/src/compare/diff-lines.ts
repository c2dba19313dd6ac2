import { type ArrayChange, diffArrays } from 'diff';

/** A line of a text, with its number from 1. */
interface Line {
  readonly number: number;
  readonly text: string;
}

/** A row of two texts side by side. */
export type DiffRow =
  | { readonly kind: 'same'; readonly left: Line; readonly right: Line }
  | { readonly kind: 'changed'; readonly left?: Line; readonly right?: Line }
  /** Omitted lines that are equal in both. */
  | { readonly kind: 'folded'; readonly count: number };

/** Two texts side by side, or the reason there is no comparison. */
export type LineDiff =
  | {
      readonly state: 'ready';
      readonly rows: readonly DiffRow[];
      readonly removed: number;
      readonly added: number;
      /** Number of rows that are not shown. */
      readonly more: number;
    }
  | { readonly state: 'too_large' | 'too_different' };

/** The search for the shortest difference takes quadratic time in its length: 1,000 is half a second at most. */
const MAX_EDITS = 1_000;
const MAX_LINES = 20_000;
const MAX_ROWS = 1_500;
const LINE_CHARACTERS = 400;
/** Equal lines shown around a difference. */
const CONTEXT = 3;

/** Differences between two texts, line by line. Time and output are bounded. */
export function diffLines(left: string, right: string): LineDiff {
  const [before, after] = [left.split('\n'), right.split('\n')];
  if (before.length > MAX_LINES || after.length > MAX_LINES) return { state: 'too_large' };
  const changes: ArrayChange<string>[] | undefined = diffArrays(before, after, {
    maxEditLength: MAX_EDITS,
  });
  if (changes === undefined) return { state: 'too_different' };
  const rows: DiffRow[] = [];
  let [leftAt, rightAt, removed, added] = [0, 0, 0, 0];
  let gone: Line[] = [];
  const line = (number: number, text: string): Line => ({
    number,
    text: text.length > LINE_CHARACTERS ? `${text.slice(0, LINE_CHARACTERS)}…` : text,
  });
  const flush = (come: readonly Line[]): void => {
    for (let index = 0; index < Math.max(gone.length, come.length); index += 1) {
      const [from, to] = [gone[index], come[index]];
      rows.push({ kind: 'changed', ...(from && { left: from }), ...(to && { right: to }) });
    }
    gone = [];
  };
  for (const { value, removed: isRemoved, added: isAdded } of changes) {
    if (isRemoved) {
      gone = value.map((text) => line((leftAt += 1), text));
      removed += value.length;
    } else if (isAdded) {
      flush(value.map((text) => line((rightAt += 1), text)));
      added += value.length;
    } else {
      flush([]);
      for (const text of value) {
        rows.push({
          ...{ kind: 'same', left: line((leftAt += 1), text), right: line((rightAt += 1), text) },
        });
      }
    }
  }
  flush([]);
  const folded = fold(rows);
  const more = Math.max(0, folded.length - MAX_ROWS);
  return { state: 'ready', rows: folded.slice(0, MAX_ROWS), removed, added, more };
}

/** Omits equal lines far from any difference. */
function fold(rows: readonly DiffRow[]): DiffRow[] {
  const near = new Set<number>();
  for (const [index, { kind }] of rows.entries()) {
    if (kind !== 'changed') continue;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at += 1) near.add(at);
  }
  const folded: DiffRow[] = [];
  let far: DiffRow[] = [];
  const leaveOut = (): void => {
    // A single line takes no more room than a note about its omission.
    if (far.length > 1) folded.push({ kind: 'folded', count: far.length });
    else folded.push(...far);
    far = [];
  };
  for (const [index, row] of rows.entries()) {
    if (!near.has(index)) {
      far.push(row);
      continue;
    }
    leaveOut();
    folded.push(row);
  }
  leaveOut();
  return folded;
}
