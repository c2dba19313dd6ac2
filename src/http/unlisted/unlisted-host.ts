import { FullmatchError } from '../../errors.ts';
import { type AccessGate } from '../access-gate.ts';
import { toProblem } from '../error-response.ts';
import { respondInShape } from '../error-format.ts';
import { type HostApp } from '../host-app.ts';
import { type Logger } from '../../log.ts';
import {
  smartContractRoute,
  submissionRoutes,
} from '../api/blockscout/explorer/explorer-routes.ts';
import { isUnlistedPath } from './unlisted-paths.ts';

/** Routes that read a contract by its address. */
const BY_ADDRESS: ReadonlySet<string> = new Set([
  '/v2/contract/{chainId}/{address}',
  '/v1/contracts/{chainId}/{address}',
  '/v1/contracts/{chainId}/{address}/events',
  '/v1/contracts/{chainId}/{address}/alternatives/{matchId}',
  '/v1/contracts/{chainId}/{address}/sources',
  '/v1/contracts/{chainId}/{address}/withdrawn',
  '/v1/contracts/{chainId}/{address}/files/{file}',
  '/files/any/{chainId}/{address}',
  '/files/{chainId}/{address}',
  '/files/tree/any/{chainId}/{address}',
  '/files/tree/{chainId}/{address}',
  '/repository/contracts/{matchFolder}/{chainId}/{address}/{path}',
]);

/** Routes of the Etherscan protocol, whose requests carry the token in the query or the body. */
const ETHERSCAN: ReadonlySet<string> = new Set([
  '/api',
  '/v2/api',
  '/evm/{chainId}/etherscan',
  '/evm/{chainId}/etherscan/api',
  '/evm/{chainId}/blockscout',
  '/evm/{chainId}/blockscout/api',
]);

/** Submission routes of Blockscout's API, whose requests carry the token in the query. */
const BLOCKSCOUT_SENT: ReadonlySet<string> = new Set(
  submissionRoutes.map(({ route }) => route.path),
);

/** All routes that can be read: also jobs by id, and public data that pages need. None of them lists contracts. */
const READ: ReadonlySet<string> = new Set([
  ...BY_ADDRESS,
  ...ETHERSCAN,
  smartContractRoute.path,
  '/contract/{chain}/{address}',
  '/v2/verify/{verificationId}',
  '/v1/jobs/{id}',
  '/job/{id}',
  '/verify',
  '/v1/verify/proposal/{chainId}/{address}',
  '/assets/{file}',
  '/chains',
  '/chains/{ref}',
  '/v1/chains',
  '/v1/chains/{ref}',
  '/v1/chains/{ref}/icon',
  '/v1/compilers',
  '/version',
]);

/** Routes that accept submissions. */
const SENT: ReadonlySet<string> = new Set([
  ...ETHERSCAN,
  ...BLOCKSCOUT_SENT,
  '/v2/verify/{chainId}/{address}',
  '/v2/verify/metadata/{chainId}/{address}',
  '/v2/verify/etherscan/{chainId}/{address}',
  '/v1/verify/sources/{chainId}/{address}',
  '/v1/jobs/{id}/cancel',
  '/verify',
  '/',
]);

const BASIC = 'Basic realm="unlisted contracts", charset="UTF-8", Bearer';

/** Hosts of listed and of unlisted contracts, and the access control of the latter. */
interface Hosts {
  readonly listed: HostApp;
  /** Answers at its own prefixes and, for in-process requests, at the root. */
  readonly unlisted: HostApp;
  readonly prefixes: readonly string[];
  readonly access: Pick<AccessGate, 'requireToken' | 'hasToken'>;
}

/**
 * Combines two hosts: requests below the prefixes of unlisted contracts go to the unlisted host and need a
 * token; all others go to the listed host. A contract lookup with a token falls back to the unlisted host if
 * no listed contract is found.
 */
export function withUnlisted(hosts: Hosts, log: Logger): HostApp {
  const { listed, unlisted, prefixes, access } = hosts;
  const hostOf = (path: string): HostApp => (isUnlistedPath(path, prefixes) ? unlisted : listed);
  const answerUnlisted = async (request: Request, env?: object): Promise<Response> => {
    const { method } = request;
    const { pathname } = new URL(request.url);
    const route = unlisted.routeOf(method, pathname) ?? '';
    const isRead = method === 'GET' || method === 'HEAD';
    try {
      if (!(isRead ? READ : SENT).has(route)) throw notAnswered(pathname);
      if (isRead) access.requireToken(request, { isRead });
      // These routes check the token when they read the body.
      else if (!ETHERSCAN.has(route) && !BLOCKSCOUT_SENT.has(route)) access.requireToken(request);
    } catch (error) {
      const problem = toProblem(error, log);
      // Makes a browser ask its user for the token, as the password.
      const asks = isRead && problem.status === 401 && { 'www-authenticate': BASIC };
      const shape = unlisted.errorShapeOf?.(method, pathname);
      return hidden(respondInShape(problem, shape, { ...asks }));
    }
    return hidden(await unlisted.fetch(request, env));
  };
  return {
    ...listed,
    fetch: (request, env) => {
      const { pathname } = new URL(request.url);
      if (isUnlistedPath(pathname, prefixes)) return answerUnlisted(request, env);
      const { method } = request;
      const isLookUp =
        request.headers.has('authorization') &&
        (method === 'GET' || method === 'HEAD') &&
        BY_ADDRESS.has(listed.routeOf(method, pathname) ?? '') &&
        access.hasToken(request);
      return isLookUp ? lookUp(hosts, request, env) : listed.fetch(request, env);
    },
    routeOf: (method, path) => hostOf(path).routeOf(method, path),
    bodyLimitOf: (method, path) => hostOf(path).bodyLimitOf?.(method, path),
    errorShapeOf: (method, path) => hostOf(path).errorShapeOf?.(method, path),
  };
}

async function lookUp({ listed, unlisted }: Hosts, request: Request, env?: object) {
  const answer = await listed.fetch(request, env);
  return answer.status === 404 ? hidden(await unlisted.fetch(request, env)) : answer;
}

/** Keeps shared caches and search engines from storing the response. */
function hidden(response: Response): Response {
  const kept = response.headers.get('cache-control') ?? 'no-store';
  response.headers.set('cache-control', `private, ${kept.replace(/^public, /, '')}`);
  response.headers.set('x-robots-tag', 'noindex');
  return response;
}

function notAnswered(path: string): FullmatchError {
  return new FullmatchError(
    'route_not_found',
    `There is no route ${path}: unlisted contracts are verified and looked up by address, and are in no list.`,
  );
}
