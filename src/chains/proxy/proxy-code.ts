import { bytesToHex, type Hex } from '../../lib/hex.ts';

const DELEGATECALL = 0xf4;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;

/**
 * Whether bytecode contains DELEGATECALL. Data of PUSH operations is skipped; data after the code is not
 * distinguished from it, so the result may be a false positive.
 */
export function containsDelegateCall(code: Uint8Array): boolean {
  for (let at = 0; at < code.length; at += 1) {
    const operation = code[at] ?? 0;
    if (operation === DELEGATECALL) return true;
    if (operation >= PUSH1 && operation <= PUSH32) at += operation - PUSH1 + 1;
  }
  return false;
}

/** Bytes before the address, between it and the jump destination, and after that. */
type MinimalForm = readonly [before: string, behind: string, end: string];

const MINIMAL_FORMS: readonly MinimalForm[] = [
  // EIP-1167.
  ['363d3d373d3d3d363d', '5af43d82803e903d9160', '57fd5bf3'],
  // The same in 44 bytes.
  ['3d3d3d3d363d3d37363d', '5af43d3d93803e60', '57fd5bf3'],
  // With PUSH0: EIP-7511, and Solady's.
  ['365f5f375f5f365f', '5af43d5f5f3e5f3d9160', '57fd5bf3'],
  ['5f5f365f5f37365f', '5af43d5f5f3e60', '573d5ffd5b3d5ff3'],
  // `create_forwarder_to` of Vyper up to 0.2.8.
  ['3660006000376110006000366000', '5af460', '57600080fd5b6110006000f3'],
];
const JUMPDEST = '5b';

/** Appends the bytes after the code to the forwarded call data (clones with immutable arguments). */
const APPENDING_FORM =
  /^3d3d3d3d363d3d3761(?<length>[0-9a-f]{4})603736393661\k<length>013d73([0-9a-f]{40})5af43d3d93803e603557fd5bf3/;

/** Length of the longest form, in bytes. */
const MINIMAL_BYTES = 64;
const ADDRESS_BYTES = 20;

/**
 * The contract that a minimal proxy (EIP-1167 and similar) forwards to, as named in its bytecode. Leading
 * zeros of an address may be omitted from the PUSH. Bytes after the form are never executed.
 */
export function minimalProxyTarget(code: Uint8Array): Hex | undefined {
  const digits = bytesToHex(code.subarray(0, MINIMAL_BYTES)).slice(2);
  const appending = APPENDING_FORM.exec(digits)?.[2];
  if (appending !== undefined) return `0x${appending}`;
  for (const form of MINIMAL_FORMS) {
    const target = targetIn(digits, form);
    if (target !== undefined) return `0x${target.padStart(2 * ADDRESS_BYTES, '0')}`;
  }
  return undefined;
}

function targetIn(digits: string, [before, behind, end]: MinimalForm): string | undefined {
  const start = before.length + 2;
  const bytes = Number.parseInt(digits.slice(before.length, start), 16) - PUSH1 + 1;
  if (!(bytes >= 1 && bytes <= ADDRESS_BYTES)) return undefined;
  const target = digits.slice(start, start + 2 * bytes);
  const jump = (start + 2 * bytes + behind.length + 2 + end.indexOf(JUMPDEST)) / 2;
  const form = `${digits.slice(0, start)}${target}${behind}${jump.toString(16).padStart(2, '0')}${end}`;
  return digits.startsWith(before) && digits.startsWith(form) ? target : undefined;
}

/**
 * The complete bytecode of Sequence wallets: they forward to the address in the storage slot with their own
 * address.
 */
const SEQUENCE_WALLET = '0x363d3d373d3d3d363d30545af43d82803e903d91601857fd5bf3';

export function isSequenceWallet(code: Uint8Array): boolean {
  return code.length === 26 && bytesToHex(code) === SEQUENCE_WALLET;
}

/** `masterCopy()`, which Safe proxies answer themselves: their bytecode contains its selector. */
const MASTER_COPY = Buffer.from('a619486e', 'hex');

/** Whether bytecode may be a Safe proxy, which forwards to the address in its first slot. */
export function containsMasterCopySelector(code: Uint8Array): boolean {
  return Buffer.from(code.buffer, code.byteOffset, code.byteLength).includes(MASTER_COPY);
}
