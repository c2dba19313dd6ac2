/**
 * Parses a `Retry-After` header: seconds or an HTTP date (RFC 9110, 10.2.3). Returns milliseconds, 0 for a
 * past date; undefined if the header is missing or invalid.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^[0-9]{1,10}$/.test(text)) return Number(text) * 1000;
  // Only the date format that RFC 9110 lets senders use: Date.parse would accept almost anything.
  if (!/^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$/.test(text))
    return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
