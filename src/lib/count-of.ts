/** Formats a count with its noun: `1 chain`, `2 chains`. */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
