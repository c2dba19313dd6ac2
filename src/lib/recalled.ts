/** A function of texts that remembers its last answers, for few texts that come often. @param most answers kept. */
export function recalled<T>(most: number, find: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    // Forgetting all at once costs less than keeping the order, and texts that come often are soon known again.
    if (known.size >= most) known.clear();
    const answer = find(text);
    known.set(text, answer);
    return answer;
  };
}
