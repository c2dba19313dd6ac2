import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { type Receipt, type Transaction } from './rpc-shapes.ts';

/** The address of a contract that `deployer` creates by CREATE2 from this creation code (EIP-1014). */
export function computeCreate2Address(
  deployer: Hex,
  salt: Uint8Array,
  creationCode: Uint8Array,
): Hex {
  const preimage = Buffer.concat([
    Uint8Array.of(0xff),
    hexToBytes(deployer),
    salt,
    keccak256(creationCode),
  ]);
  return bytesToHex(keccak256(preimage).subarray(12));
}

/**
 * The address of a contract that an account creates by CREATE: from the RLP list of the account and its nonce
 * (Yellow Paper, section 7).
 */
function computeCreateAddress(sender: Hex, nonce: number): Hex {
  const digits = nonce === 0 ? '' : nonce.toString(16);
  const bytes = Buffer.from(digits.padStart(2 * Math.ceil(digits.length / 2), '0'), 'hex');
  const isOwnPrefix = bytes.length === 1 && nonce < 0x80;
  const items = Buffer.concat([
    Uint8Array.of(0x80 + ADDRESS_BYTES),
    hexToBytes(sender),
    ...(isOwnPrefix ? [] : [Uint8Array.of(0x80 + bytes.length)]),
    bytes,
  ]);
  const list = Buffer.concat([Uint8Array.of(0xc0 + items.length), items]);
  return bytesToHex(keccak256(list).subarray(HASH_BYTES - ADDRESS_BYTES));
}

const NOBODY: Hex = `0x${'00'.repeat(20)}`;

/** The contract that a transaction creates itself; receipts of some nodes omit it. */
export function contractCreatedBy(
  { from, to, nonce }: Pick<Transaction, 'from' | 'to' | 'nonce'>,
  { contractAddress }: Pick<Receipt, 'contractAddress'>,
): Hex | undefined {
  if ((contractAddress ?? NOBODY) !== NOBODY) return contractAddress ?? undefined;
  const isCreation = (to ?? undefined) === undefined;
  return isCreation && typeof nonce === 'number' ? computeCreateAddress(from, nonce) : undefined;
}

const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
const SALT_BYTES = 32;

/**
 * The creation code in the input of a call to a deterministic deployment proxy, such as the one at
 * 0x4e59b44847b379578588920cA78FbF26c0B4956C: 32 bytes of salt, then the code. The resulting address itself
 * proves the creation, so no trace is needed. Undefined for any other call.
 */
export function readProxyDeployment(to: Hex, input: Uint8Array, address: Hex): Buffer | undefined {
  if (input.length <= SALT_BYTES) return undefined;
  const creationCode = Buffer.from(input.subarray(SALT_BYTES));
  const made = computeCreate2Address(to, input.subarray(0, SALT_BYTES), creationCode);
  return made === address ? creationCode : undefined;
}
