import { z } from 'zod';
import { hexToBytes, type Hex } from '../../lib/hex.ts';

// Shapes of the Ethereum JSON-RPC interface (https://github.com/ethereum/execution-apis). Unlisted members
// are dropped; listed ones must be exactly as specified.

/** A quantity that JavaScript can represent exactly; leading zeros, which some nodes send, are ignored. */
export const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform((text, context) => {
    const number = Number(text);
    if (!Number.isSafeInteger(number)) context.addIssue({ code: 'custom', message: 'too large' });
    return number;
  });

/** A number in parameters of the interface. */
export const toQuantity = (number: number): string => `0x${number.toString(16)}`;

const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** A hash of 32 bytes, in lower case. */
export const hash = z
  .string()
  .regex(HASH)
  .transform((text) => text.toLowerCase() as Hex);

export const address = z
  .string()
  .regex(ADDRESS)
  .transform((text) => text.toLowerCase() as Hex);

/** Bytes of any length. */
export const data = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .refine((text) => text.length % 2 === 0, { error: 'half a byte' })
  .transform((text) => hexToBytes(text));

/** The head of a block: enough to identify it and to determine its age. */
export const blockHead = z.object({ number: quantity, hash, timestamp: quantity });
export type BlockHead = z.output<typeof blockHead>;

export const transaction = z.object({
  hash,
  from: address,
  /** Absent or null if the transaction creates a contract. */
  to: address.nullish(),
  input: data,
  /** In the form that every node uses; without it the address is not derived. */
  nonce: quantity.nullish().catch(null),
  blockHash: hash.nullish(),
});
export type Transaction = z.output<typeof transaction>;

export const receipt = z.object({
  transactionHash: hash,
  transactionIndex: quantity,
  blockHash: hash,
  blockNumber: quantity,
  from: address,
  to: address.nullish().catch(null),
  contractAddress: address.nullish(),
  /** Absent before Byzantium (EIP-658). */
  status: quantity.nullish(),
  gasUsed: quantity.nullish().catch(null),
});
export type Receipt = z.output<typeof receipt>;

/**
 * More than the blocks of any chain contain. Elements of a list are at least five values each, and a response
 * has at most 100,000, so a longer list is something else.
 */
const LIST_MAX_LENGTH = 20_000;

/** Elements of another shape in a list that may contain some. */
const OTHERS_MAX = 500;

/**
 * A list whose elements must all have a shape. Validation ends at the first invalid element: an endpoint
 * controls how many are invalid, and reporting each takes long.
 */
export function listOf<T>(element: z.ZodType<T>): z.ZodType<T[]> {
  return z.unknown().transform((value, context): T[] => {
    if (!Array.isArray(value) || value.length > LIST_MAX_LENGTH) {
      context.addIssue({ code: 'custom', message: 'not a list of a usable length' });
      return z.NEVER;
    }
    const list: T[] = [];
    for (const each of value as readonly unknown[]) {
      const parsed = element.safeParse(each);
      if (!parsed.success) {
        context.addIssue({ code: 'custom', message: 'an element of another shape' });
        return z.NEVER;
      }
      list.push(parsed.data);
    }
    return list;
  });
}

/**
 * The elements of a list that have a shape; others, such as the system transactions of some chains, are
 * omitted, and after several of those the list ends.
 */
export function listOfValid<T>(element: z.ZodType<T>): z.ZodType<T[]> {
  return z.unknown().transform((value, context): T[] => {
    if (!Array.isArray(value) || value.length > LIST_MAX_LENGTH) {
      context.addIssue({ code: 'custom', message: 'not a list of a usable length' });
      return z.NEVER;
    }
    const list: T[] = [];
    let others = 0;
    for (const each of value as readonly unknown[]) {
      const parsed = element.safeParse(each);
      if (parsed.success) list.push(parsed.data);
      else if ((others += 1) > OTHERS_MAX) {
        context.addIssue({ code: 'custom', message: 'too many elements of another shape' });
        return z.NEVER;
      }
    }
    return list;
  });
}

const hexOrNull = (shape: RegExp): z.ZodType<Hex | null> =>
  z
    .unknown()
    .transform((value) =>
      typeof value === 'string' && shape.test(value) ? (value.toLowerCase() as Hex) : null,
    );

/** A hash, or null for anything else: no error is created for invalid values. */
export const hashOrNull = hexOrNull(HASH);

/** An address, or null for anything else. */
export const addressOrNull = hexOrNull(ADDRESS);
