import { useEffect, useState } from 'preact/hooks';

/**
 * Reference time of relative times: that of the page, then advancing. It follows the clock of the service,
 * whose times the page shows, since the machine's may be wrong.
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
