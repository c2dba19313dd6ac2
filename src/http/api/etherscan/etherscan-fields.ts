import { FullmatchError } from '../../../errors.ts';
import { describeAddressFault, type Hex } from '../../../lib/hex.ts';
import { describeChainIdFault } from '../../chain-id-fault.ts';

/** Numbers of the libraries that a single file may name: `libraryname1` to `libraryname10`. */
export const LIBRARY_NUMBERS: readonly number[] = Array.from(
  { length: 10 },
  (_, index) => index + 1,
);

/** Parameters for the topics of an event, by position. */
export const TOPIC_NAMES = ['topic0', 'topic1', 'topic2', 'topic3'] as const;
/** How two topics are combined: `and`, which is what nodes do, or `or`. */
export const TOPIC_OPERATORS = [
  ...['topic0_1_opr', 'topic0_2_opr', 'topic0_3_opr'],
  ...['topic1_2_opr', 'topic1_3_opr', 'topic2_3_opr'],
];

/** Parameters that are read from a query or a body. `apikey` holds this service's access token. */
export const FIELD_NAMES: ReadonlySet<string> = new Set([
  // wagmi sends chainId.
  ...['module', 'action', 'chainid', 'chainId', 'guid', 'apikey'],
  ...['address', 'contractaddress', 'contractaddresses', 'expectedimplementation'],
  // Parameters of module=logs.
  ...['fromBlock', 'toBlock', 'page', 'offset'],
  ...TOPIC_NAMES,
  ...TOPIC_OPERATORS,
  ...['sourceCode', 'codeformat', 'contractname', 'compilerversion'],
  // The protocol misspells this parameter; both spellings are read.
  ...['constructorArguements', 'constructorArguments'],
  ...['optimizationUsed', 'runs', 'evmversion', 'viaIR'],
  ...LIBRARY_NUMBERS.flatMap((place) => [`libraryname${place}`, `libraryaddress${place}`]),
]);

/** Parameters of a request by name. An empty parameter counts as absent. */
export type EtherscanFields = Readonly<Record<string, string | undefined>>;

/** Longer than any parameter except the source and the constructor arguments. */
const FIELD_MAX_CHARACTERS = 2_048;

/** Picks the known parameters of a query. */
export function fieldsOf(query: Readonly<Record<string, string>>): EtherscanFields {
  return Object.fromEntries(Object.entries(query).filter(([name]) => FIELD_NAMES.has(name)));
}

/**
 * Returns a required parameter.
 * @throws FullmatchError invalid_parameter
 */
export function requireField(fields: EtherscanFields, name: string): string {
  const value = fields[name]?.trim() ?? '';
  if (value === '') throw invalidField(name, 'is missing');
  if (value.length > FIELD_MAX_CHARACTERS) throw invalidField(name, 'is too long');
  return value;
}

/**
 * Reads a required address parameter.
 * @throws FullmatchError invalid_parameter
 */
export function requireAddress(fields: EtherscanFields, name: string): Hex {
  return readAddress(requireField(fields, name));
}

/** @throws FullmatchError invalid_parameter */
export function readAddress(text: string): Hex {
  const fault = describeAddressFault(text);
  if (fault === undefined) return text.toLowerCase() as Hex;
  // Clients print the text as is; some check its beginning.
  throw new FullmatchError('invalid_parameter', `Error! Invalid address format: ${fault}.`);
}

/**
 * Returns the chain of a request, from its path or from its parameter.
 * @throws FullmatchError unsupported_chain
 */
export function readChainId(fields: EtherscanFields, inPath: number | undefined): number {
  if (inPath !== undefined) return inPath;
  const text = fields['chainid'] ?? fields['chainId'] ?? '';
  if (describeChainIdFault(text) === undefined) return Number(text);
  throw unsupportedChain();
}

/** Returns the error for a missing or unknown chain. */
export function unsupportedChain(): FullmatchError {
  return new FullmatchError(
    'unsupported_chain',
    'Missing or unsupported chainid parameter: name a chain of /v2/chainlist with ?chainid=, or use /evm/{chainId}/etherscan/api.',
  );
}

/** Returns the error for an invalid parameter. */
export function invalidField(name: string, fault: string): FullmatchError {
  return new FullmatchError('invalid_parameter', `Error! The parameter ${name} ${fault}.`, {
    details: { parameter: name },
  });
}
