import { type Hex } from '../../lib/hex.ts';
import { addressInWord } from './address-word.ts';
import { type ContractLog, type LogQuery } from '../logs/read-logs.ts';

/** An implementation that a proxy began to use. */
export interface Upgrade {
  /** Lower-case hex. */
  readonly implementation: Hex;
  readonly blockNumber: number;
  readonly transactionHash: Hex;
}

/** The first topic of `Upgraded(address)`, which proxies emit according to EIP-1967. */
const UPGRADED: Hex = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';

/** The events to read for the upgrades of a proxy. */
export function upgradesOf(address: Hex): LogQuery {
  return { address, topics: [UPGRADED], fromBlock: 0 };
}

/**
 * Reads an upgrade from its event; undefined if it names no address. Proxies from before EIP-1967 did not index
 * the address.
 */
export function readUpgrade(log: ContractLog): Upgrade | undefined {
  const implementation = addressInWord((log.topics[1] ?? log.data).toLowerCase());
  if (implementation === undefined) return undefined;
  const { blockNumber, transactionHash } = log;
  return { implementation, blockNumber, transactionHash };
}
