import { useEffect, useRef, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { type ListedContract, type StatisticsOverview } from '../shapes.ts';

/** What an event of GET /v1/events says of a match. */
interface MatchEvent {
  readonly eventNumber: string;
  readonly kind: string;
  readonly chainId: number;
  readonly address: string;
  readonly match: 'full' | 'partial' | null;
  readonly name: string | null;
  readonly at: string;
}

/** What came since the page was made. */
export interface LiveMatches {
  /** `off` without scripts and before the first answer. */
  readonly state: 'off' | 'live' | 'interrupted';
  /** Since when the service gives none. */
  readonly since?: string;
  /** Newest first, as they came. */
  readonly contracts: readonly ListedContract[];
  /** The counts that hold after them. */
  readonly statistics?: StatisticsOverview;
  /** The moment from which ages are told. */
  readonly now?: string;
}

/** How many are kept: more than the page shows. */
const KEPT = 50;
/** Counts are read again after events, at most this often. */
const COUNTS_MS = 2000;

/** Follows the events of the service, from the first rendering in the browser on. */
export function useLiveMatches(base: string): LiveMatches {
  const [live, setLive] = useState<LiveMatches>({ state: 'off', contracts: [] });
  const timer = useRef<number>(0);
  useEffect(() => {
    const api = createApi((path) => fetch(`${base}${path}`));
    const readCounts = async (): Promise<void> => {
      timer.current = 0;
      const read = await api.get<StatisticsOverview>('v1/statistics');
      if (read.state === 'ready') setLive((before) => ({ ...before, statistics: read.value }));
    };
    const source = new EventSource(`${base}v1/events`);
    source.onopen = () => setLive((before) => ({ ...before, state: 'live' }));
    source.onerror = () =>
      setLive((before) =>
        before.state === 'interrupted'
          ? before
          : { ...before, state: 'interrupted', since: new Date().toISOString() },
      );
    source.addEventListener('match', ({ data }: MessageEvent<string>) => {
      const { eventNumber, ...event } = JSON.parse(data) as MatchEvent;
      setLive((before) => ({
        ...before,
        now: new Date().toISOString(),
        contracts: [{ key: `event ${eventNumber}`, ...event }, ...before.contracts].slice(0, KEPT),
      }));
      if (timer.current === 0)
        timer.current = window.setTimeout(() => void readCounts(), COUNTS_MS);
    });
    return () => {
      source.close();
      clearTimeout(timer.current);
    };
  }, [base]);
  return live;
}
