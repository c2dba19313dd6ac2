import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { type Answer, respondJson, REVALIDATED } from '../../answer.ts';
import { describeChainIdFault } from '../../chain-id-fault.ts';
import { type InProcessEnv } from '../../client-of.ts';
import { type HostApp } from '../../host-app.ts';
import { redirectTo } from '../page-redirects.ts';
import { answerAbi, answerCreations, answerSource } from './answer-look-ups.ts';
import { answerLogs } from './answer-logs.ts';
import { answerProxyStatus, answerProxySubmission } from './answer-proxies.ts';
import { answerStatus, answerSubmission } from './answer-verification.ts';
import { renderChainList } from './chain-list.ts';
import { fieldsOf, unsupportedChain } from './etherscan-fields.ts';
import { type EtherscanParts, type EtherscanRequest } from './etherscan-request.ts';
import { chainListRoute, etherscanEndpoints, explorerRoutes } from './etherscan-routes.ts';
import { type Dialect, RESULT_TEXTS } from './etherscan-texts.ts';

type Answering = (parts: EtherscanParts, question: EtherscanRequest) => Answer | Promise<Answer>;

/** Handlers of the actions that may use GET or POST, by module and action. */
const MODULES: ReadonlyMap<string, ReadonlyMap<string, Answering>> = new Map([
  [
    'contract',
    new Map<string, Answering>([
      ['checkverifystatus', answerStatus],
      ['getabi', answerAbi],
      ['getsourcecode', answerSource],
      ['getcontractcreation', answerCreations],
      ['verifyproxycontract', answerProxySubmission],
      ['checkproxyverification', answerProxyStatus],
    ]),
  ],
  ['logs', new Map([['getLogs', answerLogs]])],
]);

/** Adds the routes of the Etherscan protocol: many actions behind one path, selected in the query or in a form. */
export function addEtherscanRoutes(routes: OpenAPIHono, parts: EtherscanParts): void {
  for (const { dialect, get, post } of etherscanEndpoints) {
    // Each action validates its own parameters, since its errors have the protocol's format.
    routes.openapi({ ...get, request: {} }, async (c) =>
      answerAction(parts, { ...placeOf(c), c, dialect, fields: fieldsOf(c.req.query()) }),
    );
    routes.openapi({ ...post, request: {} }, (c) => answerPost(parts, c, dialect));
  }
  routes.openapi(chainListRoute, () => {
    const base = (parts.urls().api ?? '').replace(/\/$/, '');
    return respondJson(chainListRoute, renderChainList(parts.registry(), base), REVALIDATED);
  });
  for (const route of explorerRoutes) {
    const depth = route.path.split('/').length - 1;
    routes.openapi(route, (c) => {
      const { chainId, address } = c.req.valid('param');
      return redirectTo(c.req.url, `contract/${chainId}/${checksumAddress(address)}`, depth);
    });
  }
}

/**
 * Serves the protocol at the root too, for clients whose base URL is only the host. Without its two
 * parameters the root is a page.
 */
export function addEtherscanAtRoot(routes: OpenAPIHono, ask: HostApp['request']): void {
  routes.get('/', (c, next) => {
    const { module = '', action = '' } = c.req.query();
    if (module === '' || action === '') return next();
    return ask(`/api${new URL(c.req.url).search}`, { method: c.req.method }, c.env as InProcessEnv);
  });
}

/**
 * Reads the chain in the path.
 * @throws FullmatchError unsupported_chain
 */
function placeOf(c: Context): Pick<EtherscanRequest, 'chainInPath'> {
  const text = c.req.param('chainId');
  if (text === undefined) return {};
  if (describeChainIdFault(text) !== undefined) throw unsupportedChain();
  return { chainInPath: Number(text) };
}

/** A worker thread reads the body and builds the verification request. */
async function answerPost(parts: EtherscanParts, c: Context, dialect: Dialect): Promise<Answer> {
  const place = placeOf(c);
  const read = await parts.requests.read(c, {
    kind: 'etherscan',
    contentType: c.req.header('content-type') ?? '',
    query: c.req.query(),
    ...(place.chainInPath !== undefined && { chainId: place.chainInPath }),
  });
  if ('request' in read) return answerSubmission(parts, c, dialect, read.request);
  return answerAction(parts, { ...place, c, dialect, fields: read.fields });
}

async function answerAction(parts: EtherscanParts, question: EtherscanRequest): Promise<Answer> {
  const { module = '', action = '' } = question.fields;
  const actions = MODULES.get(module);
  if (actions === undefined) throw wrong(RESULT_TEXTS.wrongModule);
  if (action === 'verifysourcecode') throw wrong('Error! verifysourcecode is sent by POST.');
  const answer = actions.get(action);
  if (answer === undefined) throw wrong(RESULT_TEXTS.wrongAction);
  return answer(parts, question);
}

function wrong(text: string): FullmatchError {
  return new FullmatchError('invalid_parameter', text);
}
