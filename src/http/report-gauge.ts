import { Gauge, type Registry } from 'prom-client';

import { type HealthReport } from './health-schema.ts';

/** Makes a gauge that is read from the health report whenever it is asked for. */
type ReportGauge = <Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  samples: (report: HealthReport) => readonly (readonly [Record<Label, string>, number])[],
) => void;

/** What is not known yet has no sample: a missing value is not a zero. */
export function createReportGauges(registers: Registry[], health: () => HealthReport): ReportGauge {
  return (name, help, labelNames, samples) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        // A gauge without labels is reset to a sample of 0.
        if (labelNames.length === 0) this.remove();
        for (const [labels, value] of samples(health())) this.set(labels, value);
      },
    });
  };
}
