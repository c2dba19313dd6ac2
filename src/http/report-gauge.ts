import { Gauge, type Registry } from 'prom-client';

/** Creates a gauge whose samples are taken from the reports on each scrape; true is 1, and false is 0. */
type ReportGauge<Report> = <Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  samples: (
    report: Report,
  ) => readonly (readonly [Record<Label, string>, number | boolean | undefined])[],
) => void;

/**
 * Creates gauges without samples for unknown values: a missing value is not zero.
 * @param read returns the reports, each with the labels of its subject
 * @param subject the names of these labels
 */
export function createReportGauges<Report, Subject extends string = never>(
  registers: Registry[],
  read: () => readonly (readonly [Record<Subject, string>, Report])[],
  subject: readonly Subject[] = [],
): ReportGauge<Report> {
  return (name, help, labelNames, samples) => {
    const names = [...subject, ...labelNames];
    new Gauge({
      name,
      help,
      labelNames: names,
      registers,
      collect() {
        this.reset();
        // prom-client resets a gauge without labels to a sample of 0.
        if (names.length === 0) this.remove();
        for (const [of, report] of read()) {
          for (const [labels, value] of samples(report)) {
            if (value !== undefined) this.set({ ...of, ...labels } as never, Number(value));
          }
        }
      },
    });
  };
}

/** Returns the seconds that passed since a time; 0 for a time in the future. */
export const secondsSince = (time: Date): number => Math.max(0, Date.now() - time.getTime()) / 1000;
