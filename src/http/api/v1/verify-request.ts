import { FullmatchError } from '../../../errors.ts';
import { describeAddressFault, isTransactionHash, type Hex } from '../../../lib/hex.ts';
import { isMembers, type Members } from '../../../lib/members.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { countJsonValues } from '../../../lib/untrusted-json.ts';
import { isMetadata, targetOf } from '../../../solidity/metadata.ts';
import { type VerificationRequest } from '../../../verification/verification-request.ts';
import { readForm } from '../../bodies/read-form.ts';
import {
  asRequestError,
  parseJsonBody,
  requireFewSources,
  type RequestLimits,
} from '../../bodies/request-limits.ts';
import { describeChainIdFault } from '../../chain-id-fault.ts';

/** One of several contracts that the files of a request describe. */
export interface ContractChoice {
  readonly name: string;
  readonly path: string;
}

/** What a request of the API v1 asks: a verification, or which of several contracts there are. */
export type V1Request =
  { readonly verification: VerificationRequest } | { readonly choices: readonly ContractChoice[] };

/** A contract that the files describe. */
interface DescribedContract extends ContractChoice {
  readonly metadata: Members;
}

const NAME_SHOWN_CHARACTERS = 200;

function invalid(parameter: string, expected: string): FullmatchError {
  return new FullmatchError('invalid_parameter', `${parameter}: ${expected}.`, {
    details: { parameter },
  });
}

/**
 * Reads a request in JSON or as a form with files.
 * @throws FullmatchError invalid_parameter, invalid_json, malformed_request, request_too_many_values,
 * request_too_many_sources
 */
export async function readV1Request(
  bytes: Buffer<ArrayBuffer>,
  contentType: string,
  limits: RequestLimits,
): Promise<V1Request> {
  const isForm = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)/i.test(contentType);
  const fields = isForm
    ? await formFields(await readForm(bytes, contentType, limits))
    : jsonFields(parseJsonBody(bytes, limits));
  const place = readPlace(fields);
  const fileCount = Object.keys(fields.files).length;
  if (fileCount === 0) throw invalid('files', 'a metadata.json and its sources are expected');
  requireFewSources(fileCount, limits);
  const hash = fields.creatorTxHash;
  if (hash !== undefined && !isTransactionHash(hash)) {
    throw invalid('creatorTxHash', '0x and 64 hexadecimal digits are expected');
  }
  const { contracts, sources } = splitFiles(fields.files, limits);
  if (contracts.length === 0) throw invalid('files', 'none of them is a metadata.json');
  const chosen = chooseContract(readChoice(fields.chosenContract), contracts);
  if (chosen === undefined) {
    return { choices: contracts.map(({ name, path }) => ({ name, path })) };
  }
  return {
    verification: {
      ...place,
      ...(hash !== undefined && { creationTransactionHash: hash.toLowerCase() as Hex }),
      compilation: { kind: 'metadata', metadata: chosen.metadata, sources },
    },
  };
}

interface Fields {
  readonly chain: unknown;
  readonly address: unknown;
  readonly creatorTxHash: string | undefined;
  readonly chosenContract: unknown;
  readonly files: Readonly<Record<string, string>>;
}

function readPlace({ chain, address }: Fields): {
  readonly chainId: number;
  readonly address: Hex;
} {
  // A JSON client may send the id as a number.
  const digits = typeof chain === 'number' ? String(chain) : chain;
  const chainFault = describeChainIdFault(typeof digits === 'string' ? digits : '');
  if (chainFault !== undefined) throw invalid('chain', chainFault);
  const text = typeof address === 'string' ? address : '';
  const addressFault = describeAddressFault(text);
  if (addressFault !== undefined) throw invalid('address', addressFault);
  return { chainId: Number(digits), address: text.toLowerCase() as Hex };
}

function readChoice(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const place = typeof value === 'string' ? Number(value) : value;
  if (typeof place === 'number' && Number.isSafeInteger(place) && place >= 0) return place;
  throw invalid('chosenContract', 'the place of a contract in contractsToChoose is expected');
}

function chooseContract(
  place: number | undefined,
  contracts: readonly DescribedContract[],
): DescribedContract | undefined {
  if (contracts.length === 1) return contracts[0];
  if (place === undefined) return undefined;
  const chosen = contracts[place];
  if (chosen !== undefined) return chosen;
  throw invalid('chosenContract', `there are ${contracts.length} contracts, counted from 0`);
}

function textOrAbsent(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function jsonFields(body: Members): Fields {
  const files = body['files'] ?? {};
  if (!isMembers(files)) throw invalid('files', 'an object with the text of each file is expected');
  const entries = Object.entries(files).map(([name, content]) => {
    if (typeof content === 'string') return [name, content] as const;
    // Clients that read a metadata.json with a JSON loader send it as it was loaded.
    if (typeof content === 'object' && content !== null) {
      return [name, JSON.stringify(content)] as const;
    }
    throw invalid('files', 'an object with the text of each file is expected');
  });
  return {
    chain: body['chain'] ?? body['chainId'],
    address: body['address'],
    creatorTxHash: textOrAbsent(body['creatorTxHash']),
    chosenContract: body['chosenContract'],
    files: Object.fromEntries(entries),
  };
}

async function formFields(form: FormData): Promise<Fields> {
  const files: (readonly [string, string])[] = [];
  for (const [field, value] of form.entries()) {
    if (typeof value !== 'string') files.push([value.name || field, await value.text()]);
  }
  return {
    chain: form.get('chain') ?? form.get('chainId'),
    address: form.get('address'),
    creatorTxHash: textOrAbsent(form.get('creatorTxHash')),
    chosenContract: form.get('chosenContract'),
    files: Object.fromEntries(files),
  };
}

/** The contracts that the files hold the metadata of, and the files that hold none. All files share one count of values. */
function splitFiles(
  files: Fields['files'],
  limits: RequestLimits,
): {
  readonly contracts: readonly DescribedContract[];
  readonly sources: Readonly<Record<string, string>>;
} {
  const contracts: DescribedContract[] = [];
  const sources: (readonly [string, string])[] = [];
  let { values } = limits;
  for (const [name, text] of Object.entries(files)) {
    const isObject = /^\s*\{/.test(text);
    const json = isObject ? parseFile(name, text, { ...limits, values }) : undefined;
    values -= json?.values ?? 0;
    const contract = describeContract(json?.value, limits);
    if (contract === undefined) sources.push([name, text]);
    else contracts.push(contract);
  }
  return { contracts, sources: Object.fromEntries(sources) };
}

/** The JSON of a file, or no value where it is none: a source may begin with a brace too, such as one in Yul. */
function parseFile(
  name: string,
  text: string,
  limits: RequestLimits,
): { readonly value?: unknown; readonly values: number } {
  const bytes = Buffer.from(text);
  try {
    const values = countJsonValues(bytes, limits);
    return { value: JSON.parse(text) as unknown, values };
  } catch (error) {
    if (error instanceof SyntaxError) return { values: 0 };
    const shown = printableText(name, NAME_SHOWN_CHARACTERS);
    throw asRequestError(error, `The file ${shown}`);
  }
}

function describeContract(metadata: unknown, limits: RequestLimits): DescribedContract | undefined {
  if (!isMetadata(metadata) || !isMembers(metadata['sources'])) return undefined;
  requireFewSources(Object.keys(metadata['sources']).length, limits);
  const { path = '', name = '' } = targetOf(metadata) ?? {};
  return { path, name, metadata };
}
