/** Milliseconds of the newest answers, the newest last; `warm` once the first was left out. */
export interface Latencies {
  readonly warm: boolean;
  readonly values: readonly number[];
}

/** How long an endpoint takes to answer. */
export interface LatencyReport {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly samples: number;
}

const REMEMBERED = 100;

export const NO_LATENCIES: Latencies = { warm: false, values: [] };

/** The latencies with one more. The first is left out: it pays for finding the name and for the connection. */
export function addLatency({ warm, values }: Latencies, milliseconds: number): Latencies {
  return warm
    ? { warm, values: [...values, milliseconds].slice(-REMEMBERED) }
    : { warm: true, values };
}

/** The median and the 95th percentile by nearest rank; undefined before the second answer. */
export function reportLatency({ values }: Latencies): LatencyReport | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((left, right) => left - right);
  const rank = (share: number): number =>
    Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 10) / 10;
  return { p50Ms: rank(0.5), p95Ms: rank(0.95), samples: sorted.length };
}
