import { bytesToHex, type Hex } from '../../src/lib/hex.ts';
import { keccak256 } from '../../src/lib/keccak.ts';
import { computeCreate2Address } from '../../src/chains/rpc/contract-address.ts';
import { type Anvil } from './anvil.ts';
import { compileCreationContracts, type CreationContracts } from './creation-contracts.ts';

/** A deployed contract and its creation transaction. */
export interface CreatedContract {
  readonly address: Hex;
  readonly transactionHash: Hex;
}

/** Every way in which a contract is created. */
export const DEPLOYMENT_KINDS = [
  'plain',
  'factory',
  'create2 by a factory',
  'create2 by the deployment proxy',
  'constructor that creates',
  'constructor that calls a factory',
] as const;
export type DeploymentKind = (typeof DEPLOYMENT_KINDS)[number];

/** Whether the creation is only visible in a trace. */
export function needsTrace(kind: DeploymentKind): boolean {
  return kind !== 'plain' && kind !== 'create2 by the deployment proxy';
}

/** Deploys contracts in every way on an anvil. */
export interface Deployer {
  readonly contracts: CreationContracts;
  readonly factory: Hex;
  readonly deploy: (kind: DeploymentKind) => Promise<CreatedContract>;
}

/** The deterministic deployment proxy, part of anvil's genesis. */
export const DEPLOYMENT_PROXY: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c';

export const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const selector = (signature: string): string =>
  bytesToHex(keccak256(Buffer.from(signature)).subarray(0, 4)).slice(2);
const addressOf = (answer: string): Hex => `0x${answer.slice(-40)}`;

/** Call data of a function with words as arguments. */
export function callOf(signature: string, ...words: readonly string[]): Hex {
  return `0x${selector(signature)}${words.join('')}`;
}

/** Compiles the contracts and deploys the factory. */
export async function createDeployer(anvil: Anvil): Promise<Deployer> {
  const contracts = await compileCreationContracts();
  const factory = (await anvil.send({ data: `0x${contracts.Factory}` })).contractAddress;
  if (factory === null) throw new Error('no factory');
  let next = 0;

  const byCall = async (data: Hex): Promise<CreatedContract> => {
    const predicted = await anvil.request<string>('eth_call', [
      { from: anvil.account, to: factory, data },
      'latest',
    ]);
    const { transactionHash } = await anvil.send({ to: factory, data });
    return { address: addressOf(predicted), transactionHash };
  };
  const byConstructor = async (made: string): Promise<CreatedContract> => {
    const data = `0x${contracts.Parent}${made}${word(next)}`;
    const { contractAddress, transactionHash } = await anvil.send({ data });
    const call = { to: contractAddress, data: callOf('child()') };
    const child = await anvil.request<string>('eth_call', [call, 'latest']);
    return { address: addressOf(child), transactionHash };
  };
  const ways: Readonly<Record<DeploymentKind, () => Promise<CreatedContract>>> = {
    plain: async () => {
      const sent = await anvil.send({ data: `0x${contracts.Child}${word(next)}` });
      if (sent.contractAddress === null) throw new Error('nothing was created');
      return { address: sent.contractAddress, transactionHash: sent.transactionHash };
    },
    factory: () => byCall(callOf('make(uint256)', word(next))),
    'create2 by a factory': () =>
      byCall(callOf('makeBySalt(uint256,bytes32)', word(next), word(next))),
    'create2 by the deployment proxy': async () => {
      const code = Buffer.from(`${contracts.Child}${word(next)}`, 'hex');
      const salt = Buffer.from(word(next), 'hex');
      const data: Hex = `0x${salt.toString('hex')}${code.toString('hex')}`;
      const { transactionHash } = await anvil.send({ to: DEPLOYMENT_PROXY, data });
      return { address: computeCreate2Address(DEPLOYMENT_PROXY, salt, code), transactionHash };
    },
    'constructor that creates': () => byConstructor(word(0)),
    'constructor that calls a factory': () => byConstructor(factory.slice(2).padStart(64, '0')),
  };
  return {
    contracts,
    factory,
    deploy: (kind) => {
      next += 1;
      return ways[kind]();
    },
  };
}
