import { hostsWithoutPublicUrl } from '../../config/public-urls.ts';
import {
  probeFullmatch,
  inspectPort,
  type InspectedPort,
  urlOfPort,
} from '../../service/inspect-ports.ts';
import { portsOf } from '../../service/ports.ts';
import { hasRunningServer } from '../../store/embedded/embedded-server.ts';
import { type DoctorDependencies } from './doctor-dependencies.ts';
import { type AreaReport } from './finding.ts';

/** Checks that the ports are free or in use by this service, and reports that service's readiness. */
export async function checkPorts(
  ports: AreaReport,
  service: AreaReport,
  { config, fetch }: DoctorDependencies,
): Promise<void> {
  const places = portsOf(config);
  const found = await Promise.all(places.map((place) => inspectPort(place, fetch)));
  // With its own embedded server, a service of another data directory is a different one; with a shared
  // server that cannot be determined.
  const mayRun =
    config.database.url !== undefined || (await hasRunningServer(config.dataDir).catch(() => true));
  for (const port of found) reportPort(ports, port, mayRun);
  const answering = found.filter(({ state }) => state === 'answers' && mayRun);
  if (places.length === 0) ports.ok('no host is switched on');
  if (answering.length === 0) {
    service.unknown('No service responds on these ports.', 'fullmatch start');
    return;
  }
  service.ok(`a service answers at ${answering.map(urlOfPort).join(', ')}`);
  const reasons = answering.flatMap(({ readiness }) => readiness?.reasons ?? []);
  for (const [code, reason] of new Map(reasons.map((each) => [each.code, each]))) {
    if (reason.blocking) service.fault(code, reason.detail, 'fullmatch start, and its log');
    else service.warning(code, reason.detail, 'GET /health, and docs/operating.md');
  }
}

function reportPort(report: AreaReport, port: InspectedPort, mayRun: boolean): void {
  const { name, host, state, fault } = port;
  const where = `${name}.port ${port.port} on ${host}`;
  const another = `fullmatch start with another ${name}.port, or stop the process that uses it`;
  if (state === 'any') report.ok(`${name}.port: a free one is picked`);
  else if (state === 'free') report.ok(`${where} is free`);
  else if (state === 'unavailable') report.fault('port_unavailable', fault?.message ?? '', another);
  else if (mayRun) report.ok(`${where} is the service's`);
  else {
    const message = `${where} is used by a Fullmatch with another data directory.`;
    report.fault('port_unavailable', message, another);
  }
}

/** Checks that the public URLs lead to this service. */
export async function checkPublicUrls(
  report: AreaReport,
  { config, fetch }: DoctorDependencies,
): Promise<void> {
  for (const host of hostsWithoutPublicUrl(config)) {
    report.warning(
      'public_url_missing',
      `The ${host} host binds ${config.host}, but its links point to this machine only.`,
      `${host}.publicUrl: https://…`,
    );
  }
  for (const host of ['api', 'repository'] as const) {
    const { enabled, publicUrl } = config[host];
    if (!enabled || publicUrl === undefined) continue;
    const answer = await probeFullmatch(host, publicUrl, fetch);
    if (answer !== undefined) report.ok(`${host}.publicUrl ${publicUrl} answers`);
    else {
      report.unknown(
        `${host}.publicUrl ${publicUrl} does not reach a Fullmatch from here: the service or its proxy is down, or it is reachable only from outside.`,
        `curl ${publicUrl}/readyz`,
      );
    }
  }
  if (report.findings.length === 0) report.ok('links use the address of the request');
}

/** Checks that clients behind proxies are distinguished, and that clients cannot forge their address. */
export function checkProxies(report: AreaReport, { config }: DoctorDependencies): void {
  const { trustedProxies } = config.http;
  const everybody = trustedProxies.filter((network) => network.endsWith('/0'));
  if (everybody.length > 0) {
    report.fault(
      'every_proxy_trusted',
      `${everybody.join(' and ')} trusts every client’s headers, so any client can claim any address.`,
      'http.trustedProxies: only the addresses of your proxies',
    );
  } else if (trustedProxies.length > 0) {
    report.ok(`clients are named by ${trustedProxies.join(', ')}`);
  } else if (config.api.publicUrl !== undefined || config.repository.publicUrl !== undefined) {
    report.warning(
      'proxies_not_trusted',
      'A public URL suggests a proxy in front, but no proxy is trusted: all of its clients count as one and share one limit.',
      'http.trustedProxies: [127.0.0.1], or the addresses of your proxies',
    );
  } else report.ok('no proxy is configured: clients are identified by their connections');
}
