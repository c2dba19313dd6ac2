import { readPackageVersion } from '../lib/package-version.ts';
import { type ServiceUrls } from '../service/open-hosts.ts';
import { type Service } from '../service/service.ts';

const NAME_WIDTH = 12;

/** Renders the lines shown to a person when the service is ready: its URLs, its data, and what to try next. */
export function describeReadiness(
  { apiUrl, repositoryUrl, metricsUrl, operatorUrl }: ServiceUrls,
  { registry, statistics }: Awaited<ReturnType<Service['facts']>>,
): readonly string[] {
  const count = (value: number): string => value.toLocaleString('en-US');
  const contracts = statistics && statistics.full + statistics.partial;
  const rows = [
    apiUrl && ['dashboard', `${apiUrl}/`],
    apiUrl && [
      'chains',
      `${apiUrl}/chains`,
      registry && `${count(registry.chains)}, ${count(registry.supported)} of them supported`,
    ],
    repositoryUrl && [
      'statistics',
      `${repositoryUrl}/stats.json`,
      contracts !== undefined && `${count(contracts)} verified contracts`,
    ],
    operatorUrl && ['operator', `${operatorUrl}/`, 'on this machine alone'],
    metricsUrl && ['metrics', `${metricsUrl}/metrics`],
  ].flatMap((row) => (Array.isArray(row) ? [row] : []));
  const width = Math.max(0, ...rows.map(([, url]) => String(url).length));
  const lines = rows.map(([name, url, about]) =>
    `  ${String(name).padEnd(NAME_WIDTH)}${String(url).padEnd(width)}${about ? `  ${about}` : ''}`.trimEnd(),
  );
  const next =
    contracts === 0 && apiUrl !== undefined
      ? [
          '',
          '  Nothing is verified yet. Try `npx fullmatch demo`, or verify a contract of yours:',
          `  ${apiUrl}/verify`,
        ]
      : [];
  return [`Fullmatch ${readPackageVersion()} is ready`, '', ...lines, ...next, ''];
}
