import { Histogram, type Registry } from 'prom-client';

/**
 * Receives each finished response: the path template of its route, its status, and the seconds until the
 * client had received it.
 */
export type RequestObserver = (route: string | undefined, status: number, seconds: number) => void;

/** From a 304 on loopback to a slow client that downloads the whole list. */
const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];

/**
 * Label of requests without a route: their paths are not used as labels, since clients can invent any number
 * of them.
 */
const NO_ROUTE = 'none';

/** Adds the histogram of request durations to a registry. Returns the observer of each host's requests. */
export function addRequestDurations(registry: Registry): (host: string) => RequestObserver {
  const durations = new Histogram({
    name: 'fullmatch_http_request_duration_seconds',
    help: 'From the request header to the last byte taken by the client, by host, route and status class',
    labelNames: ['host', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  return (host) =>
    (route = NO_ROUTE, status, seconds) => {
      durations.observe({ host, route, status: `${Math.floor(status / 100)}xx` }, seconds);
    };
}
