import { useEffect, useState } from 'preact/hooks';
import { createApi, type Loaded } from '../api.ts';
import { listContract } from '../listed-contract.ts';
import { type ContractPage, type Health } from '../answers.ts';
import { type ListedContract } from '../listed-contract.ts';
import { type OverviewCounts, readCounts } from './overview-data.ts';

/** A match event of GET /v1/events. */
interface MatchEvent {
  readonly eventNumber: string;
  readonly kind: string;
  readonly chainId: number;
  readonly address: string;
  readonly match: 'full' | 'partial' | null;
  readonly name: string | null;
  readonly origin: string | null;
  readonly at: string;
}

/** Updates since the page was rendered. */
export interface Live {
  /** `off` without scripts and before the first response. */
  readonly state: 'off' | 'live' | 'interrupted';
  /** Time since which no events are received. */
  readonly since?: string;
  /** Newest first, in order of arrival. */
  readonly contracts: readonly ListedContract[];
  /** The counts after these events, if they could be read. */
  readonly counts?: OverviewCounts;
  readonly names: ReadonlyMap<number, string>;
  /** The last health report. */
  readonly health?: Loaded<Health>;
}

/** Maximum number kept: more than the page shows. */
const KEPT = 50;
/** Minimum interval for reading counts after events. */
const COUNTS_MS = 2000;
const HEALTH_MS = 5000;
/** A browser reconnects after a lost connection, but not after a refusal such as that of a busy service. */
const REFUSED_MS = 10_000;

/** Follows the events and the health of the service in the browser. */
export function useLive(base: string): Live {
  const [live, setLive] = useState<Live>({ state: 'off', contracts: [], names: new Map() });
  useEffect(
    () => follow(base, (change) => setLive((before) => ({ ...before, ...change(before) }))),
    [base],
  );
  return live;
}

/** Follows until the returned function is called. */
function follow(base: string, change: (next: (before: Live) => Partial<Live>) => void): () => void {
  const api = createApi((path) => fetch(`${base}${path}`));
  let source: EventSource | undefined;
  let countsTimer = 0;
  let openTimer = 0;
  const readCountsSoon = (): void => {
    if (countsTimer !== 0) return;
    countsTimer = window.setTimeout(() => {
      countsTimer = 0;
      void readCounts(api).then(({ names, ...counts }) => {
        if (counts.totals.state === 'ready' && counts.history.state === 'ready')
          change(() => ({ counts, names }));
      });
    }, COUNTS_MS);
  };
  /** The service resends missed events only to a browser that received one before, and only a limited number. */
  const readMissed = async (): Promise<void> => {
    readCountsSoon();
    const read = await api.get<ContractPage>(`v1/contracts?limit=${KEPT}`);
    if (read.state === 'failed') return;
    const contracts = read.value.results.map((item) => listContract(item));
    change(() => ({ contracts }));
  };
  let opened = 0;
  const open = (): void => {
    source = new EventSource(`${base}v1/events`);
    source.onopen = () => {
      change(() => ({ state: 'live' }));
      if (opened > 0) void readMissed();
      opened += 1;
    };
    source.onerror = () => {
      change(({ state }) =>
        state === 'interrupted' ? {} : { state: 'interrupted', since: new Date().toISOString() },
      );
      if (source?.readyState === EventSource.CLOSED) {
        openTimer = window.setTimeout(open, REFUSED_MS);
      }
    };
    source.addEventListener('match', ({ data }: MessageEvent<string>) => {
      const { eventNumber, ...event } = JSON.parse(data) as MatchEvent;
      const key = `event ${eventNumber}`;
      // After an interruption an event may arrive twice.
      change(({ contracts }) => ({
        contracts: [{ key, ...event }, ...contracts.filter((each) => each.key !== key)].slice(
          0,
          KEPT,
        ),
      }));
      readCountsSoon();
    });
  };
  open();
  const healthTimer = window.setInterval(() => {
    void api.get<Health>('health').then((health) => {
      if (health.state === 'ready') change(() => ({ health }));
    });
  }, HEALTH_MS);
  return () => {
    source?.close();
    clearTimeout(countsTimer);
    clearTimeout(openTimer);
    clearInterval(healthTimer);
  };
}
