import { type Hex } from '../../lib/hex.ts';
import { type AskedChain } from './asked-chain.ts';
import { type CreationReading, readCreation, type ReadCreationOptions } from './creation.ts';
import { type DeployedCode, type ReadCodeOptions, readDeployedCode } from './deployed-code.ts';
import { type RpcClient } from './rpc-client.ts';

/** What the service reads of contracts on chains. Addresses and hashes may be given in any case. */
export interface ChainAccess {
  /**
   * The code of a contract at a named block, on which enough independent endpoints agree.
   * @throws FullmatchError contract_not_deployed, endpoints_disagree, cannot_fetch_bytecode.
   */
  readDeployedCode(
    chain: AskedChain,
    address: Hex,
    options?: ReadCodeOptions,
  ): Promise<DeployedCode>;
  /** How a transaction created a contract, or why it is not taken for its creation. */
  readCreation(
    chain: AskedChain,
    address: Hex,
    transactionHash: Hex,
    options?: ReadCreationOptions,
  ): Promise<CreationReading>;
}

/** Chain access over an RPC client. */
export function createChainAccess(rpc: RpcClient): ChainAccess {
  return {
    readDeployedCode: (chain, address, options) =>
      readDeployedCode(rpc, chain, toLower(address), options),
    readCreation: (chain, address, transactionHash, options) =>
      readCreation(rpc, chain, toLower(address), toLower(transactionHash), options),
  };
}

function toLower(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}
