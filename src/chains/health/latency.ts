/** Milliseconds of recent responses, newest last; `warm` after the first was dropped. */
export interface Latencies {
  readonly warm: boolean;
  readonly values: readonly number[];
}

/** Latency of an endpoint. */
export interface LatencyReport {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly samples: number;
}

const REMEMBERED = 100;

export const NO_LATENCIES: Latencies = { warm: false, values: [] };

/** Adds a latency. The first one is dropped, because it includes DNS and the connection. */
export function addLatency({ warm, values }: Latencies, milliseconds: number): Latencies {
  return warm
    ? { warm, values: [...values, milliseconds].slice(-REMEMBERED) }
    : { warm: true, values };
}

/** Median and 95th percentile by nearest rank; undefined before the second response. */
export function reportLatency({ values }: Latencies): LatencyReport | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((left, right) => left - right);
  const rank = (share: number): number =>
    Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 10) / 10;
  return { p50Ms: rank(0.5), p95Ms: rank(0.95), samples: sorted.length };
}
