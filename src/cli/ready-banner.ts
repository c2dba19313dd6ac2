import { type MatchCounts, takeApart } from '../lib/counts-apart.ts';
import { readPackageVersion } from '../lib/package-version.ts';
import { type ServiceUrls } from '../service/open-hosts.ts';
import { type Service } from '../service/service.ts';

const NAME_WIDTH = 12;

const count = (value: number): string => value.toLocaleString('en-US');

/** The contracts, with the claims of other services apart. While these are not counted, no contract is called verified. */
function describeContracts(
  { full, partial }: MatchCounts,
  claims: Awaited<ReturnType<Service['facts']>>['claims'],
): string {
  if (claims === undefined) return `${count(full + partial)} contracts`;
  const { claimed, ...here } = takeApart({ full, partial, claimed: claims });
  const verified = `${count(here.full + here.partial)} verified contracts`;
  return claimed === 0 ? verified : `${verified}, and ${count(claimed)} claimed by other services`;
}

/** Renders the lines shown to a person when the service is ready: its URLs, its data, and what to try next. */
export function describeReadiness(
  { apiUrl, repositoryUrl, metricsUrl, operatorUrl }: ServiceUrls,
  { registry, statistics, claims }: Awaited<ReturnType<Service['facts']>>,
): readonly string[] {
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
      statistics && describeContracts(statistics, claims),
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
