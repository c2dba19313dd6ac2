import { Gauge, type Registry } from 'prom-client';

import { type HealthReport } from './health-schema.ts';

/** Creates a gauge that reads the health report on each scrape. */
type ReportGauge = <Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  samples: (report: HealthReport) => readonly (readonly [Record<Label, string>, number])[],
) => void;

/** Creates gauges without samples for unknown values: a missing value is not zero. */
export function createReportGauges(registers: Registry[], health: () => HealthReport): ReportGauge {
  return (name, help, labelNames, samples) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        // prom-client resets a gauge without labels to a sample of 0.
        if (labelNames.length === 0) this.remove();
        for (const [labels, value] of samples(health())) this.set(labels, value);
      },
    });
  };
}
