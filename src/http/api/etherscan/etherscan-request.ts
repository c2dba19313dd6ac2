import { type Context } from 'hono';

import { type Answer, respondJson, type ResponseOf, NOT_STORED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { type EtherscanFields, readChainId, unsupportedChain } from './etherscan-fields.ts';
import { etherscanRoute } from './etherscan-routes.ts';
import { type Dialect } from './etherscan-texts.ts';
import { type etherscanAnswerSchema } from './etherscan-wire.ts';

/** Dependencies of the routes of the protocol. */
export type EtherscanParts = Pick<
  HttpDependencies,
  | 'answers'
  | 'contracts'
  | 'creations'
  | 'logs'
  | 'proxies'
  | 'registry'
  | 'requests'
  | 'clientOf'
  | 'urls'
  | 'verification'
>;

/** A request of the Etherscan protocol. */
export interface EtherscanRequest {
  readonly c: Context;
  readonly dialect: Dialect;
  readonly fields: EtherscanFields;
  /** Set if the path names the chain. */
  readonly chainInPath?: number;
}

/**
 * Returns the chain of a request, which must be a known one.
 * @throws FullmatchError unsupported_chain, not_ready
 */
export function requireChain(
  { registry }: EtherscanParts,
  { fields, chainInPath }: EtherscanRequest,
): number {
  const chainId = readChainId(fields, chainInPath);
  if (registry().chains.some(({ record }) => record.chainId === chainId)) return chainId;
  throw unsupportedChain();
}

type EtherscanAnswer = ResponseOf<typeof etherscanAnswerSchema>;

/** Returns a response with status 1. */
export function okResponse(
  result: EtherscanAnswer['result'],
  details?: EtherscanAnswer['details'],
): Answer {
  return answerAs({ status: '1', message: 'OK', result, ...(details && { details }) });
}

/** Returns the response for a search without results. */
export function emptyResponse(message: 'No records found'): Answer {
  return answerAs({ status: '0', message, result: [] });
}

/**
 * Returns a response with status 0: a negative result or one that is not ready yet, which is not an error of
 * the request.
 */
export function notOkResponse(result: string, details?: EtherscanAnswer['details']): Answer {
  return answerAs({ status: '0', message: 'NOTOK', result, ...(details && { details }) });
}

function answerAs(value: EtherscanAnswer): Answer {
  return respondJson(etherscanRoute, value, NOT_STORED);
}
