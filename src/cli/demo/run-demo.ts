import { DEMONSTRATION_CHAIN_ID } from '../../chains/registry/default-service-chains.ts';
import { type Compilers } from '../../compilers/compilers.ts';
import { parseOutput } from '../../compilers/parse-output.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { FullmatchError } from '../../errors.ts';
import { checksumAddress, bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import {
  type Match,
  type SavedMatch,
  saveMatch,
  withdrawMatch,
} from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';
import { readVerificationTask } from '../../verification/compilation/read-compilation-task.ts';
import { verifyContract, type VerificationParts } from '../../verification/verify-contract.ts';
import { DEMO_CONTRACTS, type DemoArgument, type DemoContract } from './demo-contracts.ts';
import { type DemoNode } from './demo-node.ts';

const WORD_DIGITS = 64;
const ADDRESS_DIGITS = 40;

/** Result for a demo contract. */
export interface DemoResult {
  readonly name: string;
  readonly kind: DemoContract['kind'];
  readonly address: Hex;
  readonly compilerVersion: string;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly outcome: SavedMatch['outcome'] | 'withdrawn';
}

/** Dependencies of the demo. */
export interface DemoParts {
  readonly node: DemoNode;
  readonly database: Database;
  readonly verification: VerificationParts;
  readonly compilers: Pick<Compilers, 'compileToBytes'>;
  /** Compiler versions used in rotation. */
  readonly versions: readonly string[];
  readonly onProgress: (done: number, total: number, name: string) => void;
}

/**
 * Deploys the demo contracts and verifies each like any submission: reads its bytecode from the chain,
 * compiles its sources, compares both and stores the match. A node that starts over gives the same addresses,
 * so a second run stores and withdraws nothing again.
 * @throws FullmatchError `no_demo_node`; as verifyContract and saveMatch; the reason of `signal`.
 */
export async function runDemo(
  parts: DemoParts,
  signal: AbortSignal,
): Promise<readonly DemoResult[]> {
  const { onProgress, versions } = parts;
  const addresses = new Map<string, Hex>();
  const results: DemoResult[] = [];
  for (const [index, contract] of DEMO_CONTRACTS.entries()) {
    signal.throwIfAborted();
    const isRepeated = results.every(({ outcome }) => outcome === 'unchanged');
    if (contract.withdrawn !== undefined && index > 0 && isRepeated) continue;
    onProgress(index, DEMO_CONTRACTS.length, contract.key);
    // Contracts in one source file share a compiler version.
    const version = versions[contract.path.length % versions.length] ?? '';
    const deployed = await deploy(parts, contract, version, addresses, signal);
    addresses.set(contract.key, deployed.address);
    results.push(await verify(parts, contract, version, deployed, addresses, signal));
  }
  return results;
}

interface Deployed {
  readonly address: Hex;
  readonly transactionHash: Hex;
}

async function deploy(
  { node, compilers }: DemoParts,
  contract: DemoContract,
  version: string,
  addresses: ReadonlyMap<string, Hex>,
  signal: AbortSignal,
): Promise<Deployed> {
  if (contract.madeBy !== undefined) return make(node, contract.madeBy, contract.key, addresses);
  const input = inputOf(contract, contract.sources, addresses);
  // The compiler generates only the requested output.
  const outputSelection = { [contract.path]: { [contract.name]: ['evm.bytecode.object'] } };
  const compiled = await compilers.compileToBytes({
    language: 'solidity',
    version,
    signal,
    input: { ...input, settings: { ...input.settings, outputSelection } },
  });
  const output = parseOutput(compiled.bytes, compiled.version);
  const code = output.contracts?.[contract.path]?.[contract.name]?.evm?.bytecode?.object;
  if (code === undefined || code === '') {
    const messages = (output.errors ?? []).map(({ message }) => message).join(' ');
    throw new FullmatchError(
      'not_verifiable',
      `solc ${version} does not compile ${contract.name} of the demonstration: ${messages}`,
    );
  }
  const words = contract.arguments.map((argument) => wordOf(argument, addresses)).join('');
  const { contractAddress, transactionHash } = await node.send({ data: `0x${code}${words}` });
  if (contractAddress === null) throw noCreation(contract.key);
  return { address: contractAddress.toLowerCase() as Hex, transactionHash };
}

/** Lets a factory create the contract; the event in the receipt contains its address. */
async function make(
  node: DemoNode,
  { factory, call }: { readonly factory: string; readonly call: string },
  key: string,
  addresses: ReadonlyMap<string, Hex>,
): Promise<Deployed> {
  const selector = bytesToHex(keccak256(Buffer.from(call)).subarray(0, 4));
  // The salt, if there is one, is derived from the key and therefore unique.
  const salt = call === 'make()' ? '' : bytesToHex(keccak256(Buffer.from(key))).slice(2);
  const receipt = await node.send({
    to: addressOf(factory, addresses),
    data: `${selector}${salt}`,
  });
  const word = receipt.logs[0]?.data;
  if (word === undefined) throw noCreation(key);
  return {
    address: `0x${word.slice(-ADDRESS_DIGITS).toLowerCase()}`,
    transactionHash: receipt.transactionHash,
  };
}

function noCreation(key: string): FullmatchError {
  return new FullmatchError('no_demo_node', `The node created no contract for ${key}.`);
}

async function verify(
  { database, verification }: DemoParts,
  contract: DemoContract,
  version: string,
  { address, transactionHash }: Deployed,
  addresses: ReadonlyMap<string, Hex>,
  signal: AbortSignal,
): Promise<DemoResult> {
  const sources = contract.otherComments ? addComments(contract.sources) : contract.sources;
  const chainId = DEMONSTRATION_CHAIN_ID;
  const request = {
    chainId,
    address,
    creationTransactionHash: transactionHash,
    compilation: {
      kind: 'standard_json' as const,
      input: inputOf(contract, sources, addresses),
      compilerVersion: version,
      contractIdentifier: `${contract.path}:${contract.name}`,
    },
  };
  const { contract: verified } = await verifyContract(
    verification,
    readVerificationTask(request, verification.sourceBytes),
    signal,
  );
  const saved = await saveMatch(database, verified);
  const reason = contract.withdrawn;
  if (reason !== undefined) await withdrawMatch(database, { chainId, address, reason });
  return {
    name: contract.name,
    kind: contract.kind,
    address: checksumAddress(address),
    compilerVersion: verified.compilation.version,
    runtimeMatch: verified.runtimeMatch,
    creationMatch: verified.creationMatch,
    outcome: reason === undefined ? saved.outcome : 'withdrawn',
  };
}

function addComments(sources: DemoContract['sources']): DemoContract['sources'] {
  return Object.fromEntries(
    Object.entries(sources).map(([path, content]) => [
      path,
      `${content}\n// This comment came after the contract: the code is the same, the metadata is not.\n`,
    ]),
  );
}

function inputOf(
  { settings, libraries, librariesPath }: DemoContract,
  sources: DemoContract['sources'],
  addresses: ReadonlyMap<string, Hex>,
): StandardJsonInput {
  const linked = Object.entries(libraries).map(([name, key]) => [name, addressOf(key, addresses)]);
  return {
    language: 'Solidity',
    sources: Object.fromEntries(
      Object.entries(sources).map(([path, content]) => [path, { content }]),
    ),
    settings: {
      ...settings,
      ...(librariesPath !== undefined && {
        libraries: { [librariesPath]: Object.fromEntries(linked) as Record<string, string> },
      }),
    },
  };
}

/** Encodes a contract ABI word: a number or an address, left-padded. */
function wordOf(argument: DemoArgument, addresses: ReadonlyMap<string, Hex>): string {
  const digits =
    typeof argument === 'bigint'
      ? argument.toString(16)
      : addressOf(argument.addressOf, addresses).slice(2);
  return digits.padStart(WORD_DIGITS, '0');
}

function addressOf(key: string, addresses: ReadonlyMap<string, Hex>): Hex {
  const address = addresses.get(key);
  if (address === undefined) throw new Error(`${key} is deployed after what needs it`);
  return address;
}
