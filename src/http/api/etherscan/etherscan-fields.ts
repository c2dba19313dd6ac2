import { FullmatchError } from '../../../errors.ts';
import { describeAddressFault, type Hex } from '../../../lib/hex.ts';
import { describeChainIdFault } from '../../chain-id-fault.ts';

/** How many libraries a single file may name: `libraryname1` to `libraryname10`. */
export const LIBRARY_PLACES: readonly number[] = Array.from(
  { length: 10 },
  (_, index) => index + 1,
);

/** The topics of an event, by their positions. */
export const TOPIC_NAMES = ['topic0', 'topic1', 'topic2', 'topic3'] as const;

/** The parameters that are read, of a query as of a body; the key of an account is the token of this service. */
export const FIELD_NAMES: ReadonlySet<string> = new Set([
  // wagmi writes chainId.
  ...['module', 'action', 'chainid', 'chainId', 'guid', 'apikey'],
  ...['address', 'contractaddress', 'contractaddresses', 'expectedimplementation'],
  // Of module=logs.
  ...['fromBlock', 'toBlock', 'page', 'offset'],
  ...TOPIC_NAMES,
  ...['sourceCode', 'codeformat', 'contractname', 'compilerversion'],
  // The first is how the protocol spells the second.
  ...['constructorArguements', 'constructorArguments'],
  ...['optimizationUsed', 'runs', 'evmversion', 'viaIR'],
  ...LIBRARY_PLACES.flatMap((place) => [`libraryname${place}`, `libraryaddress${place}`]),
]);

/** The parameters of a request by their names. An empty one is as good as none. */
export type EtherscanFields = Readonly<Record<string, string | undefined>>;

/** Longer than any parameter but the source and the arguments of a constructor. */
const FIELD_MAX_CHARACTERS = 2_048;

/** Those of a query that are read. */
export function fieldsOf(query: Readonly<Record<string, string>>): EtherscanFields {
  return Object.fromEntries(Object.entries(query).filter(([name]) => FIELD_NAMES.has(name)));
}

/** A parameter that has to be there. @throws FullmatchError invalid_parameter */
export function requireField(fields: EtherscanFields, name: string): string {
  const value = fields[name]?.trim() ?? '';
  if (value === '') throw invalidField(name, 'is missing');
  if (value.length > FIELD_MAX_CHARACTERS) throw invalidField(name, 'is too long');
  return value;
}

/** An address among the parameters. @throws FullmatchError invalid_parameter */
export function requireAddress(fields: EtherscanFields, name: string): Hex {
  return readAddress(requireField(fields, name));
}

/** @throws FullmatchError invalid_parameter */
export function readAddress(text: string): Hex {
  const fault = describeAddressFault(text);
  if (fault === undefined) return text.toLowerCase() as Hex;
  // Clients print the text as it is; some look for its beginning.
  throw new FullmatchError('invalid_parameter', `Error! Invalid address format: ${fault}.`);
}

/** The chain of a request: what its path says, or its parameter. @throws FullmatchError unsupported_chain */
export function readChainId(fields: EtherscanFields, inPath: number | undefined): number {
  if (inPath !== undefined) return inPath;
  const text = fields['chainid'] ?? fields['chainId'] ?? '';
  if (describeChainIdFault(text) === undefined) return Number(text);
  throw unsupportedChain();
}

/** The error for a chain that is missing or not known. */
export function unsupportedChain(): FullmatchError {
  return new FullmatchError(
    'unsupported_chain',
    'Missing or unsupported chainid parameter: name a chain of /v2/chainlist with ?chainid=, or use /evm/{chainId}/etherscan/api.',
  );
}

/** The error for a parameter that is not as it should be. */
export function invalidField(name: string, fault: string): FullmatchError {
  return new FullmatchError('invalid_parameter', `Error! The parameter ${name} ${fault}.`, {
    details: { parameter: name },
  });
}
