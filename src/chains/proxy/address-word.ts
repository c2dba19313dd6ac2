import { type Hex } from '../../lib/hex.ts';

const ADDRESS_WORD = /^0x0{24}([0-9a-f]{40})$/;

/** The address in an ABI-encoded word of lower-case hex, which may be zero; undefined if it holds something else. */
export function addressInWord(word: string): Hex | undefined {
  const digits = ADDRESS_WORD.exec(word)?.[1];
  return digits === undefined ? undefined : `0x${digits}`;
}
