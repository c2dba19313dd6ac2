import { type ChainRegistry } from '../../chains/registry/registry.ts';
import { FullmatchError } from '../../errors.ts';
import { checksumAddress } from '../../lib/hex.ts';
import { type MonitorReport } from '../../monitor/monitor-report.ts';
import { type VerificationJob } from '../../verification/jobs/verification-job.ts';
import { respondJson, type ResponseOf, BASE_HEADERS, makeResponse, NOT_STORED } from '../answer.ts';
import { respondWithProblem, problemFromError } from '../error-response.ts';
import { createHostApp, createRoutes, type HostApp } from '../host-app.ts';
import { type HttpDependencies } from '../http-dependencies.ts';
import { addPageRoutes } from '../api/pages/add-page-routes.ts';
import {
  operatorCancelRoute,
  operatorRetryFailuresRoute,
  operatorRetryRoute,
  operatorStateRoute,
  type operatorStateSchema,
} from './operator-routes.ts';

type State = ResponseOf<typeof operatorStateSchema>;

/** Data that only the operator sees, and the actions of the page. */
interface OperatorDesk {
  look(): Promise<
    Pick<State, 'databaseBytes' | 'disk' | 'feed'> & {
      readonly jobs: readonly VerificationJob[];
      readonly failures: readonly (Omit<State['failures'][number], 'lastAt'> & {
        readonly lastAt: Date;
      })[];
    }
  >;
  cancelJob(id: string): Promise<void>;
  retryFailures(code: string): Promise<void>;
  retryFound(chainId: number): Promise<void>;
}

/** Dependencies of the operator's page in addition to those of the hosts. */
export interface OperatorParts extends Pick<
  HttpDependencies,
  | 'answers'
  | 'chainHealth'
  | 'health'
  | 'log'
  | 'monitors'
  | 'pages'
  | 'registry'
  | 'urls'
  | 'version'
> {
  readonly desk: OperatorDesk;
  readonly roles: State['roles'];
}

/** Host names by which a browser reaches the page on this machine or through a tunnel. */
const OWN_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const WAITING_STATES: ReadonlySet<string> = new Set(['waiting', 'verifying']);

/**
 * Creates the operator's page. It needs no password: it listens only on loopback, answers to no other host
 * name (DNS rebinding), and rejects requests from other sites.
 */
export function createOperatorApp(parts: OperatorParts): HostApp {
  const routes = createRoutes();
  const { desk, answers, pages: bundle, version, urls } = parts;
  routes.openapi(operatorStateRoute, async () => {
    const state = renderState(parts, await desk.look());
    return respondJson(operatorStateRoute, state, NOT_STORED);
  });
  routes.openapi(operatorCancelRoute, (c) =>
    done(2, 'cancelled', desk.cancelJob(c.req.valid('param').id)),
  );
  routes.openapi(operatorRetryFailuresRoute, (c) =>
    done(2, 'queued', desk.retryFailures(c.req.valid('param').code)),
  );
  routes.openapi(operatorRetryRoute, (c) =>
    done(2, 'retried', desk.retryFound(c.req.valid('param').chainId)),
  );
  const problemPages = addPageRoutes(routes, {
    ...{ host: 'operator', bundle, version, urls, prefixes: [], answers },
    ask: (...parameters) => app.request(...parameters),
  });
  const app = createHostApp({ routes, prefixes: [], problemPages }, parts.log);
  return {
    ...app,
    fetch: (request, env) =>
      isFromHere(request)
        ? app.fetch(request, env)
        : respondWithProblem(problemFromError(notOnThisMachine())),
  };
}

/**
 * Returns whether a request names this machine and was not triggered by another site, according to Fetch
 * Metadata. Navigation from another site is allowed: it shows the page, whose content that site cannot read.
 */
function isFromHere({ method, url, headers }: Request): boolean {
  const { hostname, origin } = new URL(url);
  if (!OWN_NAMES.has(hostname)) return false;
  const [site, from] = [headers.get('sec-fetch-site'), headers.get('origin')];
  if (site === null) return from === null || from === origin;
  if (site === 'same-origin' || site === 'none') return true;
  return method === 'GET' && headers.get('sec-fetch-mode') === 'navigate';
}

function notOnThisMachine(): FullmatchError {
  return new FullmatchError(
    'not_on_this_machine',
    'The operator’s page is for localhost; from elsewhere make a tunnel: ssh -L 5557:127.0.0.1:5557 <machine>.',
  );
}

/**
 * Redirects back to the page with the outcome of an action.
 * @param depth how many levels below the root the request was
 */
async function done(depth: number, said: string, work: Promise<void>) {
  const code = await work.then(
    () => said,
    (error: unknown) => {
      if (error instanceof FullmatchError) return error.code;
      throw error;
    },
  );
  const location = `${'../'.repeat(depth)}?said=${code}`;
  return makeResponse(null, {
    status: 303,
    headers: { ...BASE_HEADERS, location, 'content-length': '0', 'cache-control': NOT_STORED },
  });
}

function renderState(
  { chainHealth, health, monitors, registry, roles }: OperatorParts,
  { jobs, failures, ...facts }: Awaited<ReturnType<OperatorDesk['look']>>,
): State {
  const nameOf = namesIn(registry());
  return {
    health: health(),
    roles,
    ...facts,
    jobs: jobs.map(({ id, state, chainId, address, createdAt }) => ({
      ...{ id, state, chainId },
      address: checksumAddress(address),
      createdAt: createdAt.toISOString(),
    })),
    failures: failures.map(({ lastAt, ...failure }) => ({
      ...failure,
      lastAt: lastAt.toISOString(),
    })),
    chains: chainHealth.reports().map(({ chainId, state, endpoints, reasons: [reason] }) => ({
      ...{ chainId, name: nameOf(chainId), state },
      endpoints: endpoints.length,
      up: endpoints.filter((endpoint) => endpoint.state === 'up').length,
      ...(reason && { reason: reason.detail }),
    })),
    monitors: monitors.reports().map((report) => renderMonitor(report, nameOf)),
  };
}

function renderMonitor(
  { chainId, status, cursor, counts }: MonitorReport,
  nameOf: (chainId: number) => string,
): State['monitors'][number] {
  const sum = (has: (state: string) => boolean): number =>
    counts.reduce((total, { state, creations }) => total + (has(state) ? creations : 0), 0);
  return {
    ...{ chainId, name: nameOf(chainId), status },
    lagBlocks: cursor?.lag ?? 0,
    found: cursor?.found ?? 0,
    waiting: sum((state) => WAITING_STATES.has(state)),
    givenUp: sum((state) => state === 'given_up'),
  };
}

function namesIn({ chains }: ChainRegistry): (chainId: number) => string {
  const names = new Map(chains.map(({ record }) => [record.chainId, record.name]));
  return (chainId) => names.get(chainId) ?? `chain ${chainId}`;
}
