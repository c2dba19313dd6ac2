import { useEffect, useState } from 'preact/hooks';

/** Whether the page is hydrated: false on the server and in the first rendering, so that both are equal. */
export function useHydrated(): boolean {
  const [hydrated, setHydrated] = useState(false);
  useEffect(() => setHydrated(true), []);
  return hydrated;
}
