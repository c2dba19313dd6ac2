/**
 * The wait that a `Retry-After` header asks for, in milliseconds: seconds or an HTTP date (RFC 9110 §10.2.3).
 * Undefined when there is none or it cannot be read; a date that has passed is 0.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^[0-9]{1,10}$/.test(text)) return Number(text) * 1000;
  // Only the form that RFC 9110 lets senders write: Date.parse would take almost anything.
  if (!/^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$/.test(text))
    return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
