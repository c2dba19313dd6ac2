const PLAIN = /^[\0-\x7f]*$/;
const MARKS = /\p{M}+/gu;

/** Normalizes a text for comparison: NFKD, without accents and case. `Görli` becomes `gorli`. */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  // Decomposing compatible characters such as ™ yields new letters, so the case is folded before and after.
  const bare = foldCase(text).normalize('NFKD').replace(MARKS, '');
  return foldCase(bare).replaceAll('ς', 'σ');
}

/** Converts to upper case first, since ß and SS share only that form. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}
