import { type Histogram, type Registry } from 'prom-client';

/**
 * Receives each finished response: the path template of its route, its status, and the seconds until the
 * client had received it.
 */
export type RequestObserver = (route: string | undefined, status: number, seconds: number) => void;

/** From a 304 on loopback to a slow client that downloads the whole list. */
const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];
const NAME = 'fullmatch_http_request_duration_seconds';
const HELP =
  'From the request header to the last byte taken by the client, by host, route and status class';

/**
 * Label of requests without a route: their paths are not used as labels, since clients can invent any number
 * of them.
 */
const NO_ROUTE = 'none';

interface Durations {
  readonly labels: Readonly<Record<'host' | 'route' | 'status', string>>;
  /** Count of each bucket, without those below it; the last one counts everything above. */
  readonly counts: number[];
  sum: number;
}

/**
 * Histogram of request durations. It counts by itself and the registry only reads it: prom-client's own
 * histogram builds a key from the labels on each observation, which costs a twentieth of a 304.
 */
export class RequestDurations {
  readonly #all: Durations[] = [];

  constructor(registry: Registry) {
    const metric = { name: NAME, get: async () => this.#describe() };
    // The registry uses only the name and `get` of a metric.
    registry.registerMetric(metric as unknown as Histogram);
  }

  /** Returns the observer of a host's requests. */
  observer(host: string): RequestObserver {
    const ofRoutes = new Map<string, Record<number, Durations>>();
    return (route = NO_ROUTE, status, seconds) => {
      const statusClass = Math.floor(status / 100);
      let ofRoute = ofRoutes.get(route);
      if (ofRoute === undefined) ofRoutes.set(route, (ofRoute = {}));
      const durations = (ofRoute[statusClass] ??= this.#open(host, route, `${statusClass}xx`));
      durations.sum += seconds;
      let bucket = 0;
      while (seconds > (BUCKETS_SECONDS[bucket] ?? Infinity)) bucket += 1;
      durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
    };
  }

  #open(host: string, route: string, status: string): Durations {
    const counts = Array.from({ length: BUCKETS_SECONDS.length + 1 }, () => 0);
    const durations = { labels: { host, route, status }, counts, sum: 0 };
    this.#all.push(durations);
    return durations;
  }

  #describe() {
    const values = this.#all.flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = counts.map((each, index) => {
        count += each;
        const le = BUCKETS_SECONDS[index] ?? '+Inf';
        return { metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${NAME}_sum`, labels, value: sum },
        { metricName: `${NAME}_count`, labels, value: count },
      ];
    });
    return { name: NAME, help: HELP, type: 'histogram', aggregator: 'sum', values };
  }
}
