import { bytesToHex, type Hex } from '../../src/lib/hex.ts';
import { keccak256 } from '../../src/lib/keccak.ts';
import { type Anvil } from './anvil.ts';
import { compileInChild } from './compile-in-child.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Plain {
    uint256 public immutable value;
    constructor(uint256 v) { value = v; }
}

contract Bomb { constructor() { selfdestruct(payable(msg.sender)); } }

contract Mortal { function end() external { selfdestruct(payable(msg.sender)); } }

contract Middle { Plain public plain; constructor(uint256 v) { plain = new Plain(v); } }

contract Outer { Middle public middle; constructor(uint256 v) { middle = new Middle(v); } }

contract Factory {
    function make(uint256 v) external { new Plain(v); }
    function makeBySalt(uint256 v, bytes32 salt) external { new Plain{salt: salt}(v); }
    function makeMany(uint256 n) external { for (uint256 i = 0; i < n; i++) new Plain(i); }
    function makeNested(uint256 v) external { new Outer(v); }
    function makeAndFail(uint256 v) external { new Plain(v); revert("no"); }
    function tryToMake(uint256 v) external { try this.makeAndFail(v) {} catch {} }
    function makeBomb() external { new Bomb(); }
    function makeAndEnd() external { Mortal m = new Mortal(); m.end(); }
}
`;

const NAMES = ['Plain', 'Bomb', 'Mortal', 'Outer', 'Factory'] as const;

interface Output {
  readonly errors?: readonly { readonly formattedMessage: string }[];
  readonly contracts?: Readonly<
    Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
  >;
}

/** Creation bytecode, hex without 0x, of contracts that create and destroy contracts in every way. */
export type MonitoredContracts = Readonly<Record<(typeof NAMES)[number], string>>;

/** Compiles the contracts in a child process. */
export async function compileMonitoredContracts(): Promise<MonitoredContracts> {
  const [output] = await compileInChild<Output>('0.8.37', [
    {
      language: 'Solidity',
      sources: { 'Monitored.sol': { content: SOURCE } },
      settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
    },
  ]);
  const entries = NAMES.map((name) => {
    const code = output?.contracts?.['Monitored.sol']?.[name]?.evm.bytecode.object;
    if (code === undefined) throw new Error(JSON.stringify(output?.errors));
    return [name, code] as const;
  });
  return Object.fromEntries(entries) as MonitoredContracts;
}

const word = (value: number): string => value.toString(16).padStart(64, '0');
const selector = (signature: string): string =>
  Buffer.from(keccak256(Buffer.from(signature)).subarray(0, 4)).toString('hex');

/** Every way to create contracts, and transactions that create none; `many` creates three. */
export const CREATION_KINDS = [
  'plain',
  'factory',
  'create2',
  'constructor_made',
  'nested',
  'many',
  'failed',
  'reverted_inside',
  'self_destructed',
  'bomb_inside',
  'ended_inside',
  'transfer',
] as const;
export type CreationKind = (typeof CREATION_KINDS)[number];

/**
 * Sends one transaction of a kind; `value` makes it unique.
 * @returns its hash.
 */
export async function sendCreation(
  anvil: Pick<Anvil, 'request' | 'account'>,
  contracts: MonitoredContracts,
  factory: Hex,
  kind: CreationKind,
  value: number,
): Promise<Hex> {
  const toFactory = (signature: string, ...words: readonly number[]): object => ({
    to: factory,
    data: `0x${selector(signature)}${words.map(word).join('')}`,
  });
  const calls: Readonly<Record<CreationKind, () => object>> = {
    plain: () => ({ data: `0x${contracts.Plain}${word(value)}` }),
    factory: () => toFactory('make(uint256)', value),
    create2: () => toFactory('makeBySalt(uint256,bytes32)', value, value),
    constructor_made: () => ({ data: `0x${contracts.Outer}${word(value)}` }),
    nested: () => toFactory('makeNested(uint256)', value),
    many: () => toFactory('makeMany(uint256)', 3),
    // A constructor that reverts immediately.
    failed: () => ({ data: '0x60006000fd' }),
    reverted_inside: () => toFactory('tryToMake(uint256)', value),
    self_destructed: () => ({ data: `0x${contracts.Bomb}` }),
    bomb_inside: () => toFactory('makeBomb()'),
    ended_inside: () => toFactory('makeAndEnd()'),
    transfer: () => ({ to: `0x${'11'.repeat(20)}`, value: '0x1' }),
  };
  const transaction = { from: anvil.account, gas: '0x2dc6c0', ...calls[kind]() };
  return anvil.request<Hex>('eth_sendTransaction', [transaction]);
}

/** Addresses that may have bytecode: all that anvil's traces and receipts name, whatever their outcome. */
async function candidatesOf(anvil: Pick<Anvil, 'request'>, block: Hex): Promise<readonly Hex[]> {
  const [receipts, traces] = await Promise.all([
    anvil.request<{ contractAddress: Hex | null; transactionHash: Hex }[]>('eth_getBlockReceipts', [
      block,
    ]),
    anvil.request<{ type: string; result?: { address?: Hex } | null }[]>('trace_block', [block]),
  ]);
  return [
    ...receipts.flatMap(({ contractAddress }) => contractAddress ?? []),
    ...traces.flatMap(({ type, result }) => (type === 'create' ? (result?.address ?? []) : [])),
  ];
}

/**
 * The creations of a chain according to its states: `block address` for each address with bytecode after a
 * block and none before it.
 */
export async function readTrueCreations(
  anvil: Pick<Anvil, 'request'>,
  first: number,
  last: number,
): Promise<ReadonlySet<string>> {
  const truth = new Set<string>();
  const hex = (number: number): Hex => `0x${number.toString(16)}`;
  for (let number = first; number <= last; number += 1) {
    const candidates = new Set(await candidatesOf(anvil, hex(number)));
    for (const address of candidates) {
      const codeAt = (at: number): Promise<string> =>
        anvil.request<string>('eth_getCode', [address, hex(at)]);
      const [after, before] = await Promise.all([codeAt(number), codeAt(Math.max(0, number - 1))]);
      if (after !== '0x' && before === '0x') truth.add(`${number} ${address.toLowerCase()}`);
    }
  }
  return truth;
}

/** The same from stored rows. */
export function showCreation(row: { block_number: string; address: Buffer }): string {
  return `${row.block_number} ${bytesToHex(row.address)}`;
}
