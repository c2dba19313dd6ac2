import { useEffect, useState } from 'preact/hooks';

/**
 * The moment up to which ages are counted: that of the page, and then on. It goes by the clock of the service, whose times
 * the page shows, since that of the machine may be wrong.
 */
export function useNow(start: string, everyMs: number): string {
  const [now, setNow] = useState(start);
  useEffect(() => {
    const begun = Date.parse(start) - performance.now();
    const timer = setInterval(
      () => setNow(new Date(begun + performance.now()).toISOString()),
      everyMs,
    );
    return () => clearInterval(timer);
  }, [start, everyMs]);
  return now;
}
