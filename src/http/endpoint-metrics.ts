import { Gauge, type Registry } from 'prom-client';

import { ENDPOINT_STATES } from '../chains/health/endpoint-state.ts';
import { type ChainHealthReport, type EndpointReport } from '../chains/health/health-report.ts';

/** Adds metrics of the probed endpoints, by chain and label. Labels contain no URL. */
export function addEndpointMetrics(
  registers: Registry[],
  reports: () => readonly ChainHealthReport[],
): void {
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    samples: (endpoint: EndpointReport) => readonly (readonly [Record<Label, string>, number])[],
  ): void => {
    new Gauge({
      name,
      help,
      labelNames: ['chain', 'endpoint', ...labelNames],
      registers,
      collect() {
        this.reset();
        for (const { chainId, endpoints } of reports()) {
          for (const endpoint of endpoints.filter(({ state }) => state !== 'not_probed')) {
            const where = { chain: String(chainId), endpoint: endpoint.label };
            for (const [labels, value] of samples(endpoint)) {
              this.set({ ...where, ...labels } as never, value);
            }
          }
        }
      },
    });
  };
  gauge(
    'fullmatch_endpoint_state',
    '1 for the state that a probed endpoint is in, 0 for the others',
    ['state'],
    ({ state: current }) =>
      ENDPOINT_STATES.map((state) => [{ state }, Number(state === current)] as const),
  );
  gauge(
    'fullmatch_endpoint_latency_seconds',
    'Time to the answer of a probed endpoint, median and 95th percentile of the newest hundred',
    ['quantile'],
    ({ latency }) =>
      latency === undefined
        ? []
        : [
            [{ quantile: '0.5' }, latency.p50Ms / 1000],
            [{ quantile: '0.95' }, latency.p95Ms / 1000],
          ],
  );
  gauge('fullmatch_endpoint_head_block', 'Newest block of a probed endpoint', [], ({ head }) =>
    head === undefined ? [] : [[{}, head.number]],
  );
  gauge(
    'fullmatch_endpoint_lag_blocks',
    'Blocks that a peer had when this endpoint did not',
    [],
    ({ lagBlocks }) => (lagBlocks === undefined ? [] : [[{}, lagBlocks]]),
  );
}
