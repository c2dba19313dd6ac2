import { type Registry } from 'prom-client';

import { CREATION_STATES } from '../monitor/inbox/creation-counts.ts';
import { type MonitorReport } from '../monitor/monitor-report.ts';
import { createReportGauges, secondsSince } from './report-gauge.ts';

/** Adds metrics of the chains that are monitored for new contracts, taken from the reports. */
export function addMonitorMetrics(
  registers: Registry[],
  reports: () => readonly MonitorReport[],
): void {
  const gauge = createReportGauges(
    registers,
    () => reports().map((report) => [{ chain: String(report.chainId) }, report] as const),
    ['chain'],
  );
  gauge(
    'fullmatch_monitor_lag_blocks',
    'Blocks between the monitor of a chain and the newest block',
    [],
    ({ cursor }) => [[{}, cursor?.lag]],
  );
  gauge(
    'fullmatch_monitor_current_age_seconds',
    'Time since the monitor of a chain last moved or stood where it should',
    [],
    ({ cursor }) => [[{}, cursor && secondsSince(cursor.currentAt)]],
  );
  gauge(
    'fullmatch_monitor_failing',
    '1 while the monitor of a chain fails or makes no progress',
    [],
    ({ status }) => [[{}, status === 'failing' || status === 'stalled']],
  );
  gauge(
    'fullmatch_monitor_creations_found',
    'Contracts that the monitor of a chain ever found',
    [],
    ({ cursor }) => [[{}, cursor?.found]],
  );
  gauge(
    'fullmatch_monitor_creations',
    'Contracts that the monitor of a chain found, by state',
    ['state'],
    ({ counts }) =>
      CREATION_STATES.map((state) => {
        const ofState = counts.filter((each) => each.state === state);
        return [{ state }, ofState.reduce((sum, { creations }) => sum + creations, 0)] as const;
      }),
  );
}

/** Adds counters of this process's monitor requests to endpoints, by the decision of the daily budget. */
export function addMonitorRequests(
  registers: Registry[],
  requests: { readonly granted: number; readonly refused: number },
): void {
  createReportGauges(registers, () => [[{}, requests]])(
    'fullmatch_monitor_requests',
    'Requests of the monitor of this process to endpoints since its start, granted and refused by the daily budget',
    ['outcome'],
    ({ granted, refused }) => [
      [{ outcome: 'granted' }, granted],
      [{ outcome: 'refused' }, refused],
    ],
  );
}
