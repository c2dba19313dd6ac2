import { InvalidArgumentError } from 'commander';
import { FullmatchError } from '../errors.ts';
import { describeAddressFault, type Hex, isTransactionHash } from '../lib/hex.ts';

/** Error for an argument or option of a command. */
export function invalid(parameter: string, message: string): FullmatchError {
  return new FullmatchError('invalid_parameter', message, { details: { parameter } });
}

/** Returns an address in lower case. @throws FullmatchError `invalid_parameter` */
export function readAddress(text: string): Hex {
  const fault = describeAddressFault(text);
  if (fault !== undefined) throw invalid('address', `<address>: ${fault}.`);
  return text.toLowerCase() as Hex;
}

/** Returns a transaction hash in lower case. @throws FullmatchError `invalid_parameter` */
export function readTransactionHash(parameter: string, text: unknown): Hex | undefined {
  if (typeof text !== 'string') return undefined;
  if (isTransactionHash(text)) return text.toLowerCase() as Hex;
  throw invalid(parameter, `--${parameter} must be 0x and 64 hex digits.`);
}

/** Returns a number from 1 to `most`. @throws InvalidArgumentError */
export function readCount(text: string, most: number): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw new InvalidArgumentError(`A whole number from 1 to ${most} is expected.`);
}
