import { type Config } from '../config/config.ts';
import { Acceptor } from '../http/acceptor/acceptor.ts';
import { createApiApp } from '../http/api/api-app.ts';
import { openSeats } from '../http/connection-seats.ts';
import { type HostApp } from '../http/host-app.ts';
import { listen, type ListenOptions } from '../http/listener.ts';
import { createMetrics, createMetricsApp } from '../http/metrics.ts';
import { createRepositoryApp } from '../http/repository/repository-app.ts';
import { type Logger } from '../log.ts';
import { type OpenDomain } from './open-domain.ts';
import { type Closers } from './closers.ts';

/** Metrics are for the operator's own machine, whatever the hosts bind. */
const LOOPBACK = '127.0.0.1';

/** Where a started service answers, without a closing slash. A host that is switched off is absent. */
export interface ServiceUrls {
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  readonly metricsUrl?: string;
}

/** The hosts that are switched on, each an app on a port. */
export async function openHosts(
  { api, repository, metrics: metricsConfig, host, limits }: Config,
  dependencies: OpenDomain,
  closers: Closers,
  log: Logger,
): Promise<ServiceUrls> {
  const { reached } = dependencies;
  const metrics = metricsConfig.enabled ? createMetrics(dependencies) : undefined;
  const seats = openSeats(log);
  const listenOn = async (
    app: HostApp,
    options: Omit<ListenOptions, 'limits' | 'seats'>,
  ): Promise<string> =>
    closers.addListener(await listen(app, { ...options, limits, seats }, log)).url;

  const acceptor = closers.add(new Acceptor(log));

  const urls: { apiUrl?: string; repositoryUrl?: string; metricsUrl?: string } = {};
  if (api.enabled) {
    const observe = metrics?.observer('api');
    const options = {
      host,
      port: api.port,
      acceptor,
      ...(observe && { observe }),
    };
    urls.apiUrl = await listenOn(createApiApp(dependencies), options);
    reached.api = api.publicUrl ?? urls.apiUrl;
  }
  if (repository.enabled) {
    const observe = metrics?.observer('repository');
    const options = {
      host,
      port: repository.port,
      acceptor,
      ...(observe && { observe }),
    };
    urls.repositoryUrl = await listenOn(createRepositoryApp(dependencies), options);
    reached.repository = repository.publicUrl ?? urls.repositoryUrl;
  }
  if (metrics !== undefined) {
    const options = { host: LOOPBACK, port: metricsConfig.port };
    urls.metricsUrl = await listenOn(createMetricsApp(metrics, log), options);
  }
  return urls;
}
