import { type ErrorCode } from '../../../errors.ts';
import { type ErrorShape } from '../../error-shape.ts';

const PATHS = /^\/(?:api|v2\/api|v2\/chainlist|evm\/[^/]+\/(?:etherscan|blockscout)(?:\/api)?)$/;
const METHODS = new Set(['GET', 'HEAD', 'POST']);

/** Errors of clients that ask too much at once: some clients know them by the first words. */
const TOO_MUCH: ReadonlySet<string> = new Set([
  'queue_full',
  'too_many_client_bodies',
  'too_many_client_answers',
] satisfies ErrorCode[]);

/** The error format of the Etherscan protocol: its clients throw on any other status, and some do not read the body then. */
export const etherscanErrorShape: ErrorShape = {
  covers: (method, path) => METHODS.has(method) && PATHS.test(path),
  body: ({ code, detail }) => ({
    status: '0',
    message: 'NOTOK',
    result: TOO_MUCH.has(code) ? `Max rate limit reached. ${detail}` : detail,
  }),
  status: 200,
};
