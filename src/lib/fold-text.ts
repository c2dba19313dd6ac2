const PLAIN = /^[\0-\x7f]*$/;
const MARKS = /\p{M}+/gu;

/**
 * A text as it is compared: compatible characters made one (NFKD), accents and case taken off. `Görli` is `gorli`.
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  // Taking compatible characters apart gives new letters, such as ™, so the case is folded before and after.
  const bare = foldCase(text).normalize('NFKD').replace(MARKS, '');
  return foldCase(bare).replaceAll('ς', 'σ');
}

/** Converts to upper case first, since ß and SS share only that form. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}
