import { bytesToHex, type Hex } from '../../lib/hex.ts';

const DELEGATECALL = 0xf4;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;

/**
 * Whether a code holds the operation that runs the code of another contract in its place. Data of PUSH operations is
 * passed over; what the compiler wrote behind the code is not told from it, so that the answer may be a false yes.
 */
export function holdsDelegateCall(code: Uint8Array): boolean {
  for (let at = 0; at < code.length; at += 1) {
    const operation = code[at] ?? 0;
    if (operation === DELEGATECALL) return true;
    if (operation >= PUSH1 && operation <= PUSH32) at += operation - PUSH1 + 1;
  }
  return false;
}

const MINIMAL = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/;

/** The contract that a minimal proxy (EIP-1167) forwards to, which its code names. */
export function minimalProxyTarget(code: Uint8Array): Hex | undefined {
  if (code.length !== 45) return undefined;
  const target = MINIMAL.exec(bytesToHex(code))?.[1];
  return target === undefined ? undefined : `0x${target}`;
}

/** The whole code of the wallets of Sequence: they forward to the address that lies at their own address in storage. */
const SEQUENCE_WALLET = '0x363d3d373d3d3d363d30545af43d82803e903d91601857fd5bf3';

export function isSequenceWallet(code: Uint8Array): boolean {
  return code.length === 26 && bytesToHex(code) === SEQUENCE_WALLET;
}

/** `masterCopy()`, which the proxies of Safe answer themselves: their code holds its selector. */
const MASTER_COPY = Buffer.from('a619486e', 'hex');

/** Whether a code may be a proxy of Safe, which forwards to the address in its first slot. */
export function namesMasterCopy(code: Uint8Array): boolean {
  return Buffer.from(code.buffer, code.byteOffset, code.byteLength).includes(MASTER_COPY);
}
