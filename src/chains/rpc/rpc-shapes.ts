import { z } from 'zod';
import { hexToBytes, type Hex } from '../../lib/hex.ts';

// Shapes of the Ethereum JSON-RPC interface (https://github.com/ethereum/execution-apis). What is not named here is
// dropped unread; what is named must be exactly as the interface has it.

/** A quantity that JavaScript counts exactly; leading zeros, which some nodes send, mean nothing. */
export const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform((text, context) => {
    const number = Number(text);
    if (!Number.isSafeInteger(number)) context.addIssue({ code: 'custom', message: 'too large' });
    return number;
  });

/** A hash of 32 bytes, in lower case. */
export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((text) => text.toLowerCase() as Hex);

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((text) => text.toLowerCase() as Hex);

/** Bytes of any length. */
export const data = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .refine((text) => text.length % 2 === 0, { error: 'half a byte' })
  .transform((text) => hexToBytes(text));

/** The head of a block: enough to name it and to see how old it is. */
export const blockHead = z.object({ number: quantity, hash, timestamp: quantity });
export type BlockHead = z.output<typeof blockHead>;

export const transaction = z.object({
  hash,
  from: address,
  /** Absent or null when the transaction creates a contract. */
  to: address.nullish(),
  input: data,
  blockHash: hash.nullish(),
});
export type Transaction = z.output<typeof transaction>;

export const receipt = z.object({
  transactionHash: hash,
  transactionIndex: quantity,
  blockHash: hash,
  blockNumber: quantity,
  from: address,
  contractAddress: address.nullish(),
  /** Absent before Byzantium (EIP-658). */
  status: quantity.nullish(),
});
export type Receipt = z.output<typeof receipt>;
