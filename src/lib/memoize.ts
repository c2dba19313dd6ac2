/**
 * Memoizes a function of texts, for few texts that occur often.
 * @param most maximum number of cached results.
 * @param longest maximum length of a cached text in characters, so that long texts take no memory.
 */
export function memoize<T>(
  most: number,
  find: (text: string) => T,
  longest = Infinity,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const answer = find(text);
    if (text.length > longest) return answer;
    // Clearing everything costs less than tracking the order of use, and frequent texts are soon cached
    // again.
    if (known.size >= most) known.clear();
    known.set(text, answer);
    return answer;
  };
}
