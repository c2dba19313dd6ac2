/**
 * A function of texts that remembers its last answers, for few texts that come often.
 * @param most answers kept.
 * @param longest text that is remembered, in characters: whoever sends longer ones takes no memory.
 */
export function recalled<T>(
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
    // Forgetting all at once costs less than keeping the order, and texts that come often are soon known again.
    if (known.size >= most) known.clear();
    known.set(text, answer);
    return answer;
  };
}
