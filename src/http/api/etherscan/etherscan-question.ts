import { type Context } from 'hono';

import { type Answer, answerJson, type AnswerOf, NOT_STORED } from '../../answer.ts';
import { type HttpParts } from '../../http-parts.ts';
import { type EtherscanFields, readChainId, unsupportedChain } from './etherscan-fields.ts';
import { etherscanRoute } from './etherscan-routes.ts';
import { type Dialect, type etherscanAnswerSchema } from './etherscan-wire.ts';

/** What the routes of the protocol need. */
export type EtherscanParts = Pick<
  HttpParts,
  | 'answers'
  | 'contracts'
  | 'creations'
  | 'logs'
  | 'proxies'
  | 'registry'
  | 'requests'
  | 'trustedProxies'
  | 'urls'
  | 'verification'
>;

/** A request of the protocol. */
export interface EtherscanQuestion {
  readonly c: Context;
  readonly dialect: Dialect;
  readonly fields: EtherscanFields;
  /** Where the path names the chain. */
  readonly chainInPath?: number;
}

/** The chain that a request names, one of those that are known. @throws FullmatchError unsupported_chain, not_ready */
export function requireChain(
  { registry }: EtherscanParts,
  { fields, chainInPath }: EtherscanQuestion,
): number {
  const chainId = readChainId(fields, chainInPath);
  if (registry().chains.some(({ record }) => record.chainId === chainId)) return chainId;
  throw unsupportedChain();
}

type EtherscanAnswer = AnswerOf<typeof etherscanAnswerSchema>;

/** An answer that says yes. */
export function answerOk(
  result: EtherscanAnswer['result'],
  details?: EtherscanAnswer['details'],
): Answer {
  return answerAs({ status: '1', message: 'OK', result, ...(details && { details }) });
}

/** The response for a search without results. */
export function answerNone(message: 'No records found'): Answer {
  return answerAs({ status: '0', message, result: [] });
}

/** An answer that says no, or not yet: it is no error of the request. */
export function answerNotOk(result: string, details?: EtherscanAnswer['details']): Answer {
  return answerAs({ status: '0', message: 'NOTOK', result, ...(details && { details }) });
}

function answerAs(value: EtherscanAnswer): Answer {
  return answerJson(etherscanRoute, value, NOT_STORED);
}
