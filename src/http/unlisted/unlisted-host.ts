import { FullmatchError } from '../../errors.ts';
import { type AccessGate } from '../access-gate.ts';
import { describeProblem } from '../error-response.ts';
import { answerShaped } from '../error-shape.ts';
import { type HostApp } from '../host-app.ts';
import { type Logger } from '../../log.ts';
import {
  smartContractRoute,
  submissionRoutes,
} from '../api/blockscout/explorer/explorer-routes.ts';
import { isUnlistedPath } from './unlisted-paths.ts';

/** What is answered of a contract whose address somebody knows. */
const BY_ADDRESS: ReadonlySet<string> = new Set([
  '/v2/contract/{chainId}/{address}',
  '/v1/contracts/{chainId}/{address}',
  '/v1/contracts/{chainId}/{address}/events',
  '/v1/contracts/{chainId}/{address}/alternatives/{matchId}',
  '/v1/contracts/{chainId}/{address}/sources',
  '/v1/contracts/{chainId}/{address}/files/{file}',
  '/files/any/{chainId}/{address}',
  '/files/{chainId}/{address}',
  '/files/tree/any/{chainId}/{address}',
  '/files/tree/{chainId}/{address}',
  '/repository/contracts/{matchFolder}/{chainId}/{address}/{path}',
]);

/** The protocol of Etherscan, whose requests hold their token in the query or in the body. */
const ETHERSCAN: ReadonlySet<string> = new Set([
  '/api',
  '/v2/api',
  '/evm/{chainId}/etherscan',
  '/evm/{chainId}/etherscan/api',
  '/evm/{chainId}/blockscout',
  '/evm/{chainId}/blockscout/api',
]);

/** What the API of a Blockscout takes, whose requests hold their token in the query. */
const BLOCKSCOUT_SENT: ReadonlySet<string> = new Set(
  submissionRoutes.map(({ route }) => route.path),
);

/** What else is read: jobs by their ids, and what everybody may see and pages need. Nothing of these lists contracts. */
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

/** What is sent: contracts to verify. */
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

/** The hosts of listed and of unlisted contracts, and who is let to the second. */
interface Hosts {
  readonly listed: HostApp;
  /** Answers at its own prefixes and, for the service itself, at the root. */
  readonly unlisted: HostApp;
  readonly prefixes: readonly string[];
  readonly access: Pick<AccessGate, 'requireToken' | 'hasToken'>;
}

/**
 * One host of two: below the prefixes of unlisted contracts it answers for these, to those who have a token, and
 * everywhere else for the listed ones. A look-up of a contract that brings a token finds an unlisted one too, where no
 * listed one is there.
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
      // These tokens are looked at where the body is read.
      else if (!ETHERSCAN.has(route) && !BLOCKSCOUT_SENT.has(route)) access.requireToken(request);
    } catch (error) {
      const problem = describeProblem(error, log);
      // A browser asks its user for the token, as the password.
      const asks = isRead && problem.status === 401 && { 'www-authenticate': BASIC };
      const shape = unlisted.errorShapeOf?.(method, pathname);
      return hidden(answerShaped(problem, shape, { ...asks }));
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

/** No cache between keeps the answer, and no search engine. */
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
