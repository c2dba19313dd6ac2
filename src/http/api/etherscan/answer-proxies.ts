import { checksumAddress, type Hex } from '../../../lib/hex.ts';
import { type Answer } from '../../answer.ts';
import { findProxy } from '../read-proxy-in-time.ts';
import { requireAddress, requireField } from './etherscan-fields.ts';
import {
  notOkResponse,
  okResponse,
  type EtherscanParts,
  type EtherscanRequest,
  requireChain,
} from './etherscan-request.ts';
import { RESULT_TEXTS } from './etherscan-texts.ts';

/**
 * Handles verifyproxycontract: returns a text from which {@link answerProxyStatus} knows what to check.
 * Nothing is stored.
 */
export function answerProxySubmission(parts: EtherscanParts, question: EtherscanRequest): Answer {
  const { fields } = question;
  const chainId = requireChain(parts, question);
  const address = requireAddress(fields, 'address');
  const expects = (fields['expectedimplementation'] ?? '') !== '';
  const expected = expects ? `-${requireAddress(fields, 'expectedimplementation')}` : '';
  return okResponse(`proxy-${chainId}-${address}${expected}`);
}

const ASKED = /^proxy-([1-9][0-9]{0,15})-(0x[0-9a-f]{40})(?:-(0x[0-9a-f]{40}))?$/;

/** Handles checkproxyverification: returns the current implementation of the proxy on chain. */
export async function answerProxyStatus(
  { proxies, clientOf }: EtherscanParts,
  { c, fields }: EtherscanRequest,
): Promise<Answer> {
  const [, chainId, address, expected] = ASKED.exec(requireField(fields, 'guid')) ?? [];
  if (chainId === undefined || address === undefined) return notOkResponse(RESULT_TEXTS.unknownJob);
  const { delegates, proxy } = await findProxy(proxies, {
    ...{ chainId: Number(chainId), address: address as Hex },
    client: clientOf(c),
  });
  if (!delegates) return notOkResponse(RESULT_TEXTS.noDelegateCall);
  const [implementation] = proxy?.implementations ?? [];
  if (implementation === undefined) return notOkResponse(RESULT_TEXTS.noImplementation);
  if (expected !== undefined && expected !== implementation) {
    return notOkResponse(RESULT_TEXTS.otherImplementation);
  }
  return okResponse(
    `The proxy's (${checksumAddress(address)}) implementation contract is found at ${checksumAddress(implementation)} and is successfully updated.`,
  );
}
