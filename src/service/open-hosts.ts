import { type Config } from '../config/config.ts';
import { hostsWithoutPublicUrl } from '../config/public-urls.ts';
import { followAccessTokens } from '../core/access-tokens.ts';
import { type Core } from '../core/open-core.ts';
import { type RunningCore } from '../core/run-core.ts';
import { AccessGate } from '../http/access-gate.ts';
import { readWebBundle } from '../http/api/pages/web-bundle.ts';
import { createRequestReader, type RequestReader } from '../http/bodies/request-reader.ts';
import { type ClientOf, createClientOf, parseTrustedProxies } from '../http/client-of.ts';
import { type HealthReport } from '../http/health-schema.ts';
import { composeHealth } from '../http/health.ts';
import { type HostApp } from '../http/host-app.ts';
import { type HttpDependencies } from '../http/http-dependencies.ts';
import { listen, type Listener, type ListenOptions } from '../http/listener.ts';
import { createMetrics, createMetricsApp } from '../http/metrics.ts';
import { RecordResponder } from '../http/records/record-responder.ts';
import { type OperatorParts } from '../http/operator/operator-app.ts';
import { unlistedPrefixes } from '../http/unlisted/unlisted-paths.ts';
import { createRepositoryApp } from '../http/repository/repository-app.ts';
import { readPackageVersion } from '../lib/package-version.ts';
import { type Logger } from '../log.ts';
import {
  createContractLists,
  createContractReader,
  createSignatureDatabase,
} from '../repository/repository.ts';
import { SERVING_TIME_LIMIT_MS } from '../store/database.ts';
import { createCombinedApi } from './open-unlisted-host.ts';
import { LOOPBACK } from './ports.ts';

/** URLs of a started service, without a trailing slash. A disabled host is absent. */
export interface ServiceUrls {
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  readonly metricsUrl?: string;
  readonly operatorUrl?: string;
}

/** URLs at which clients reach the hosts, set once these listen. */
interface ReachedUrls {
  api?: string;
  repository?: string;
}

/** Opens the enabled hosts, each as an app on a port. */
export async function openHosts(
  core: Core,
  running: RunningCore,
  isStopping: () => boolean,
): Promise<ServiceUrls> {
  const { config } = core.loaded;
  const { log } = running;
  warnOfPublicUrls(config, log);
  const health = (): HealthReport => composeHealth({ ...running.facts(), stopping: isStopping() });
  const listenOn = async (
    app: HostApp,
    options: Omit<ListenOptions, 'limits'>,
  ): Promise<Listener> => {
    const listener = await listen(app, { ...options, limits: config.limits }, log);
    const { shutdownTimeoutMs } = config.limits;
    core.closers.addFirst({ close: () => listener.close(shutdownTimeoutMs) });
    return listener;
  };
  const served = await openServed(core, running, health);
  const metrics = config.metrics.enabled
    ? createMetrics({ ...running, ...served, health, version: readPackageVersion() })
    : undefined;
  const open = async (host: 'api' | 'repository', app: HostApp): Promise<string> => {
    const observe = metrics?.observer(host);
    const { port } = config[host];
    const options = { host: config.host, port, ...(observe && { observe }) };
    return (await listenOn(app, options)).url;
  };

  const urls: { -readonly [Name in keyof ServiceUrls]: ServiceUrls[Name] } = {};
  if (served !== undefined && config.api.enabled) {
    urls.apiUrl = await open('api', createCombinedApi(served, running, config, core.closers));
    served.reached.api = config.api.publicUrl ?? urls.apiUrl;
  }
  if (served !== undefined && config.repository.enabled) {
    urls.repositoryUrl = await open('repository', createRepositoryApp(served));
    served.reached.repository = config.repository.publicUrl ?? urls.repositoryUrl;
  }
  if (metrics !== undefined) {
    const options = { host: LOOPBACK, port: config.metrics.port };
    urls.metricsUrl = (await listenOn(createMetricsApp(metrics, log), options)).url;
  }
  if (served !== undefined && config.operator.enabled) {
    // Loaded only if the page is enabled.
    const { openOperatorDesk } = await import('../core/operator-desk.ts');
    const { createOperatorApp } = await import('../http/operator/operator-app.ts');
    const desk = openOperatorDesk(running.database, config.dataDir);
    const operator = createOperatorApp({ ...served, desk, roles: rolesOf(config) });
    const options = { host: LOOPBACK, port: config.operator.port };
    urls.operatorUrl = (await listenOn(operator, options)).url;
  }
  return urls;
}

/** Returns the roles of this process. */
function rolesOf({
  api,
  repository,
  verification,
  monitor,
  database,
}: Config): OperatorParts['roles'] {
  const hosts = { api, repository };
  return {
    hosts: (['api', 'repository'] as const).filter((name) => hosts[name].enabled),
    workers: verification.workers,
    monitor: monitor.enabled,
    database: database.url === undefined ? 'embedded' : 'external',
  };
}

function warnOfPublicUrls(config: Config, log: Logger): void {
  const keys = hostsWithoutPublicUrl(config).map((host) => `${host}.publicUrl`);
  if (keys.length === 0) return;
  const facts = { event: 'public_url_missing', host: config.host, keys };
  log.warn(
    facts,
    `the hosts are open to the network, but links point to this machine only; set ${keys.join(' and ')}`,
  );
}

/**
 * Opens the dependencies of the hosts' apps, with URLs that are added once they listen; undefined if nothing
 * is served.
 */
async function openServed(
  { closers, chains, loaded: { config } }: Core,
  { publication, database, icons, log, ...running }: RunningCore,
  health: () => HealthReport,
): Promise<
  (HttpDependencies & { readonly reached: ReachedUrls; readonly access: AccessGate }) | undefined
> {
  const { served } = publication;
  if (served === undefined) return undefined;
  const serving = database.limited(SERVING_TIME_LIMIT_MS);
  const clientOf = createClientOf(parseTrustedProxies(config.http.trustedProxies));
  const { unlisted: hasUnlisted, ...granted } = config.access;
  const unlisted = hasUnlisted ? unlistedPrefixes(config.api.prefix) : [];
  const access = new AccessGate({ tokens: [], ...granted, unlisted, clientOf });
  closers.add(await followAccessTokens(database, (tokens) => access.useTokens(tokens), log));
  if ((access.verify === 'token' || hasUnlisted) && !access.hasTokens) {
    const text =
      'a token is required, but none exists: create one with fullmatch tokens create <name>';
    log.warn({ event: 'access_tokens_missing' }, text);
  }
  const reached: ReachedUrls = {};
  const pages = await readWebBundle();
  const { proxies, creations, logs, explorer } = await chains();
  closers.add(pages.renderer);
  return {
    ...served,
    ...running,
    registry: () => publication.registry,
    icons: () => icons.current,
    access,
    requests: closers.add(openRequestReader(config, access, clientOf)),
    clientOf,
    verificationBytes: config.verification.requestBytes,
    proxies,
    creations,
    logs,
    ...(explorer && { explorer }),
    contracts: createContractReader(serving),
    answers: closers.add(openRecordAnswers(config, clientOf)),
    contractLists: createContractLists(serving),
    signatures: createSignatureDatabase(serving, config.signatures.importedMax),
    health,
    pages,
    version: readPackageVersion(),
    apiPrefixes: [config.api.prefix],
    isMcpEnabled: config.mcp.enabled,
    reached,
    urls: () => reached,
    log,
  };
}

/** Limits on the JSON of a body; real compiler input and metadata stay far below. */
const JSON_LIMITS = { depth: 64, values: 200_000 };

function openRequestReader(
  { limits, verification }: Config,
  access: AccessGate,
  clientOf: ClientOf,
): RequestReader {
  const options = {
    request: {
      ...JSON_LIMITS,
      sources: limits.sources,
      // Twice the stored size, since a submission may contain sources that are not needed.
      sourceBytes: 2 * limits.sourceBytes,
    },
    bodyBytes: verification.requestBytes,
    clientOf,
    access,
  };
  return createRequestReader(options);
}

/** Size of the cache of rendered records. */
const CACHE_BYTES = 64 * 2 ** 20;
/** A third of the connections, so that lookups always find a free one. */
const READERS_PER_CONNECTION = 1 / 3;

function openRecordAnswers({ database }: Config, clientOf: ClientOf): RecordResponder {
  return new RecordResponder({
    cacheBytes: CACHE_BYTES,
    readers: Math.max(1, Math.floor(database.poolSize * READERS_PER_CONNECTION)),
    clientOf,
    version: readPackageVersion(),
  });
}
