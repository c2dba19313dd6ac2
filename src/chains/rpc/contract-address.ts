import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';

/** The address of a contract that `deployer` makes by CREATE2 from this creation code (EIP-1014). */
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

const SALT_BYTES = 32;

/**
 * The creation code in the input of a call to a deterministic deployment proxy, such as the one at
 * 0x4e59b44847b379578588920cA78FbF26c0B4956C: 32 bytes of salt, then the code. That it makes the address is proved by
 * the address itself, so no trace is needed. Undefined for any other call.
 */
export function readProxyDeployment(to: Hex, input: Uint8Array, address: Hex): Buffer | undefined {
  if (input.length <= SALT_BYTES) return undefined;
  const creationCode = Buffer.from(input.subarray(SALT_BYTES));
  const made = computeCreate2Address(to, input.subarray(0, SALT_BYTES), creationCode);
  return made === address ? creationCode : undefined;
}
