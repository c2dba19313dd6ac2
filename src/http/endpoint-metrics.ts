import { type Registry } from 'prom-client';

import { ENDPOINT_STATES } from '../chains/health/endpoint-state.ts';
import { type ChainHealthReport } from '../chains/health/health-report.ts';
import { createReportGauges } from './report-gauge.ts';

/** Adds metrics of the probed endpoints, by chain and label. Labels contain no URL. */
export function addEndpointMetrics(
  registers: Registry[],
  reports: () => readonly ChainHealthReport[],
): void {
  const gauge = createReportGauges(
    registers,
    () =>
      reports().flatMap(({ chainId, endpoints }) =>
        endpoints
          .filter(({ state }) => state !== 'not_probed')
          .map(
            (endpoint) => [{ chain: String(chainId), endpoint: endpoint.label }, endpoint] as const,
          ),
      ),
    ['chain', 'endpoint'],
  );
  gauge(
    'fullmatch_endpoint_state',
    '1 for the state that a probed endpoint is in, 0 for the others',
    ['state'],
    ({ state: current }) => ENDPOINT_STATES.map((state) => [{ state }, state === current] as const),
  );
  gauge(
    'fullmatch_endpoint_latency_seconds',
    'Time to the answer of a probed endpoint, median and 95th percentile of the newest hundred',
    ['quantile'],
    ({ latency }) => [
      [{ quantile: '0.5' }, latency && latency.p50Ms / 1000],
      [{ quantile: '0.95' }, latency && latency.p95Ms / 1000],
    ],
  );
  gauge('fullmatch_endpoint_head_block', 'Newest block of a probed endpoint', [], ({ head }) => [
    [{}, head?.number],
  ]);
  gauge(
    'fullmatch_endpoint_lag_blocks',
    'Blocks that a peer had when this endpoint did not',
    [],
    ({ lagBlocks }) => [[{}, lagBlocks]],
  );
}
