import { type Hex } from '../../../lib/hex.ts';
import { buildStandardJson, PlainSourcesError } from '../../../solidity/build-standard-json.ts';
import { findDeclaration, findDeclarations } from '../../../solidity/find-declaration.ts';
import { type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { type VerificationRequest } from '../../../verification/verification-request.ts';
import { readForm } from '../../bodies/read-form.ts';
import { readUrlencoded } from '../../bodies/read-urlencoded.ts';
import { parseJsonText, type RequestLimits } from '../../bodies/request-limits.ts';
import { validateBody } from '../../bodies/validate-body.ts';
import { toStandardJson } from '../../../solidity/to-standard-json.ts';
import { standardJsonInputSchema } from '../v2/verify-body.ts';
import {
  type EtherscanFields,
  FIELD_NAMES,
  fieldsOf,
  invalidField,
  LIBRARY_NUMBERS,
  readChainId,
  requireAddress,
  requireField,
} from './etherscan-fields.ts';

/** Facts about a request that are known before its body is read. */
export interface EtherscanForm {
  readonly kind: 'etherscan';
  readonly contentType: string;
  readonly query: Readonly<Record<string, string>>;
  /** Set if the path names the chain. */
  readonly chainId?: number;
}

/** A request read from a body: a verification, or the short fields of another action. */
export type EtherscanRequest =
  | { readonly verification: VerificationRequest; readonly key?: string }
  | { readonly fields: EtherscanFields };

/** Fields that are dropped unless the request is a verification. */
const LONG_FIELDS = new Set(['sourceCode', 'constructorArguments', 'constructorArguements']);
const SHORT_FIELD_BYTES = 4_096;

/**
 * Reads a body; its parameters take precedence over those of the query.
 * @throws FullmatchError invalid_parameter, unsupported_chain, invalid_json, malformed_request,
 * request_too_many_values
 */
export async function readEtherscanRequest(
  bytes: Buffer<ArrayBuffer>,
  { contentType, query, chainId }: EtherscanForm,
  limits: RequestLimits,
): Promise<EtherscanRequest> {
  const isMultipart = /^multipart\/form-data/i.test(contentType);
  const values = isMultipart
    ? await partsOf(await readForm(bytes, contentType, limits))
    : readUrlencoded(bytes, FIELD_NAMES);
  const short = Object.fromEntries(
    [...values].flatMap(([name, value]) => {
      if (LONG_FIELDS.has(name)) return [];
      if (value.length > SHORT_FIELD_BYTES) throw invalidField(name, 'is too long');
      return [[name, value.toString('utf8')]];
    }),
  );
  const fields = { ...fieldsOf(query), ...short };
  if (fields['action'] !== 'verifysourcecode') return { fields };
  const source = values.get('sourceCode') ?? Buffer.from(fields['sourceCode'] ?? '');
  const constructorArguments = readArguments(values, fields);
  const { apikey: key } = fields;
  return {
    ...(key !== undefined && { key }),
    verification: {
      chainId: readChainId(fields, chainId),
      address: requireAddress(fields, 'contractaddress'),
      ...(constructorArguments && { constructorArguments }),
      compilation: readCompilation(source, fields, limits),
    },
  };
}

/** Reads the fields of a multipart form; a source may be sent as a file. */
async function partsOf(form: FormData): Promise<ReadonlyMap<string, Buffer>> {
  const values = new Map<string, Buffer>();
  for (const [name, value] of form.entries()) {
    if (!FIELD_NAMES.has(name) || values.has(name)) continue;
    const bytes = typeof value === 'string' ? value : await value.arrayBuffer();
    values.set(name, typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes));
  }
  return values;
}

/** Reads the constructor arguments in either spelling; empty arguments count as absent. */
function readArguments(
  values: ReadonlyMap<string, Buffer>,
  fields: EtherscanFields,
): Hex | undefined {
  for (const name of ['constructorArguments', 'constructorArguements']) {
    const text = (values.get(name)?.toString('latin1') ?? fields[name] ?? '').trim();
    if (text === '') continue;
    const digits = text.replace(/^0x/i, '').toLowerCase();
    if (digits.length % 2 !== 0 || /[^0-9a-f]/.test(digits)) {
      throw invalidField(name, 'is not made of hexadecimal digits in pairs');
    }
    if (digits !== '') return `0x${digits}`;
  }
  return undefined;
}

function readCompilation(
  source: Buffer,
  fields: EtherscanFields,
  limits: RequestLimits,
): VerificationRequest['compilation'] {
  if (source.length === 0) throw invalidField('sourceCode', 'is missing');
  // forge prefixes the version of Vyper with the language.
  const compilerVersion = requireField(fields, 'compilerversion').replace(/^vyper:/, '');
  const name = requireField(fields, 'contractname');
  const format = requireField(fields, 'codeformat');
  switch (format) {
    case 'solidity-standard-json-input':
    case 'vyper-json':
    case 'vyper-standard-json-input': {
      const input = withinProject(name, parseStandardJsonParameter(source, limits));
      const contractIdentifier = identify(name, input);
      return { kind: 'standard_json', input, compilerVersion, contractIdentifier };
    }
    case 'solidity-single-file': {
      const contract = name.slice(name.lastIndexOf(':') + 1);
      const path = name.includes(':') ? name.slice(0, name.lastIndexOf(':')) : `${contract}.sol`;
      const input = buildInput(path, source.toString('utf8'), fields);
      return {
        ...{ kind: 'standard_json', input, compilerVersion, trySettings: true },
        contractIdentifier: `${path}:${contract}`,
      };
    }
    default:
      throw invalidField(
        'codeformat',
        'is solidity-standard-json-input, solidity-single-file or vyper-json',
      );
  }
}

const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * Parses the standard JSON input in a source parameter; some tools add an extra pair of braces.
 * @throws FullmatchError invalid_json, request_too_many_values, invalid_parameter
 */
export function parseStandardJsonParameter(
  source: Buffer,
  limits: RequestLimits,
): StandardJsonInput {
  const isBraced =
    source[0] === OPENING &&
    source[1] === OPENING &&
    source.at(-1) === CLOSING &&
    source.at(-2) === CLOSING;
  const value = parseJsonText(
    isBraced ? source.subarray(1, -1) : source,
    limits,
    'The parameter sourceCode',
  );
  return toStandardJson(validateBody(standardJsonInputSchema, value));
}

/**
 * Makes source paths relative to the project if they are not: forge sends Vyper sources with their paths on
 * its machine, but the contract with its path in the project.
 */
function withinProject(name: string, input: StandardJsonInput): StandardJsonInput {
  const end = `/${name.slice(0, Math.max(0, name.lastIndexOf(':')))}`;
  const [only, another] = Object.keys(input.sources).filter((path) => path.endsWith(end));
  if (input.language !== 'Vyper' || only === undefined || another !== undefined) return input;
  const project = only.slice(0, 1 - end.length);
  const named = Object.entries(input.sources).map(
    ([path, text]) => [path.startsWith(project) ? path.slice(project.length) : path, text] as const,
  );
  const sources = Object.fromEntries(named);
  // Stripping the prefix must not merge two sources.
  return Object.keys(sources).length === named.length ? { ...input, sources } : input;
}

/** Returns `path:Name`; a name alone is resolved to the only source that declares it. */
function identify(name: string, input: StandardJsonInput): string {
  const found = findDeclaration(name, input);
  if (found !== undefined) return found;
  const what = findDeclarations(name, input).length === 0 ? 'none' : 'several';
  throw invalidField('contractname', `is declared by ${what} of the sources: write path:Name`);
}

function buildInput(path: string, text: string, fields: EtherscanFields): StandardJsonInput {
  const runs = fields['runs'] ?? '';
  if (!/^\d{0,10}$/.test(runs)) throw invalidField('runs', 'is not a whole number');
  const evmVersion = fields['evmversion'];
  const libraries = LIBRARY_NUMBERS.flatMap((place) => {
    const name = fields[`libraryname${place}`] ?? '';
    return name === '' ? [] : [[name, fields[`libraryaddress${place}`] ?? ''] as const];
  });
  try {
    return buildStandardJson({
      sources: { [path]: text },
      optimizer: {
        enabled: isYes(fields['optimizationUsed']),
        ...(runs !== '' && { runs: Number(runs) }),
      },
      ...(evmVersion !== undefined && { evmVersion }),
      viaIR: isYes(fields['viaIR']),
      libraries: Object.fromEntries(libraries),
      skipUnplacedLibraries: true,
    });
  } catch (error) {
    if (!(error instanceof PlainSourcesError)) throw error;
    throw invalidField(
      error.part === 'libraries' ? 'libraryaddress' : 'sourceCode',
      `is invalid: ${error.message.replace(/\.$/, '')}`,
    );
  }
}

const isYes = (text: string | undefined): boolean => text === '1' || text === 'true';
