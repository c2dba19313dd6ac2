import { type ErrorCode } from '../../../errors.ts';
import { type ErrorFormat } from '../../error-format.ts';

const PATHS = /^\/(?:api|v2\/api|v2\/chainlist|evm\/[^/]+\/(?:etherscan|blockscout)(?:\/api)?)$/;
const METHODS = new Set(['GET', 'HEAD', 'POST']);

/** Errors of clients that send too many requests at once; some clients recognize them by the first words. */
const TOO_MUCH: ReadonlySet<string> = new Set([
  'queue_full',
  'too_many_client_bodies',
  'too_many_client_answers',
] satisfies ErrorCode[]);

/**
 * Error format of the Etherscan protocol. Its status is always 200: clients throw on any other, and some then
 * do not read the body.
 */
export const etherscanErrorShape: ErrorFormat = {
  covers: (method, path) => METHODS.has(method) && PATHS.test(path),
  body: ({ code, detail }) => ({
    status: '0',
    message: 'NOTOK',
    result: TOO_MUCH.has(code) ? `Max rate limit reached. ${detail}` : detail,
  }),
  status: 200,
};
