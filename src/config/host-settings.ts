import { integer, PORTS, section, toggle } from './setting-schemas.ts';

/** Settings of the Prometheus metrics. */
export const metrics = section('Metrics of this process.', {
  enabled: toggle(false, {
    description: 'Whether Prometheus metrics are served at /metrics on 127.0.0.1.',
  }),
  port: integer(PORTS, 9464, { description: 'The port of the metrics; 0 picks a free one.' }),
});

/** Settings of the operator's page. */
export const operator = section("The operator's page, at 127.0.0.1 alone.", {
  enabled: toggle(false, {
    description: 'Whether it is served. It has no password: who is on this machine may use it.',
  }),
  port: integer(PORTS, 5557, { description: 'Its port; 0 picks a free one.' }),
});

/** Settings of the Model Context Protocol. */
export const mcp = section('The Model Context Protocol, at /mcp of the API host.', {
  enabled: toggle(false, {
    description: 'Whether programs may read contracts, chains and counts by it.',
  }),
});
