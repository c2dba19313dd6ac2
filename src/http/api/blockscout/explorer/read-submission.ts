import { type Hex } from '../../../../lib/hex.ts';
import { isMembers, type Members } from '../../../../lib/members.ts';
import { buildStandardJson, PlainSourcesError } from '../../../../solidity/build-standard-json.ts';
import { findDeclaration } from '../../../../solidity/find-declaration.ts';
import { isMetadata } from '../../../../solidity/metadata.ts';
import { type StandardJsonInput } from '../../../../solidity/standard-json.ts';
import { toStandardJson } from '../../../../solidity/to-standard-json.ts';
import { buildVyperJson } from '../../../../solidity/vyper-sources.ts';
import { type VerificationRequest } from '../../../../verification/verification-request.ts';
import { readForm } from '../../../bodies/read-form.ts';
import {
  abiParser,
  parseJsonText,
  parseJsonBody,
  requireSourceLimit,
  type RequestLimits,
} from '../../../bodies/request-limits.ts';
import { invalidMember, validateBody } from '../../../bodies/validate-body.ts';
import { type ReceivedFile, readRequestFiles, type RequestFile } from '../../v1/request-files.ts';
import { chooseCompilation } from '../../v1/verify-request.ts';
import { standardJsonInputSchema } from '../../v2/verify-body.ts';

/** Source formats that Blockscout's API accepts. */
export const SUBMISSION_FORMATS = [
  'standard-input',
  'vyper-standard-input',
  'flattened-code',
  'multi-part',
  'vyper-code',
  'vyper-multi-part',
  'sourcify',
] as const;
export type SubmissionFormat = (typeof SUBMISSION_FORMATS)[number];

/** Facts about a submission that are known before its body is read. */
export interface SubmissionForm {
  readonly kind: 'blockscout_submission';
  readonly way: SubmissionFormat;
  readonly contentType: string;
  readonly chainId: number;
  readonly address: Hex;
}

type Compilation = VerificationRequest['compilation'];

/** Fields of a form, and its files by the name of their list (files, interfaces). */
interface Submission {
  readonly fields: ReadonlyMap<string, string>;
  readonly files: readonly RequestFile[];
  readonly interfaces: readonly RequestFile[];
  readonly limits: RequestLimits;
}

const FIELD_NAMES: ReadonlySet<string> = new Set([
  ...['compiler_version', 'contract_name', 'source_code', 'constructor_args'],
  ...['autodetect_constructor_args', 'is_optimization_enabled', 'optimization_runs'],
  ...['evm_version', 'libraries', 'language', 'interfaces', 'chosen_contract_index'],
]);
/** Longest field in characters, except source code, constructor arguments and lists. */
const FIELD_MAX_CHARACTERS = 2_048;
const FILE_LIST = /^(files|interfaces)(?:\[\d{0,6}\])?$/;

/**
 * Reads a submission to Blockscout's API.
 * @throws FullmatchError invalid_parameter, invalid_json, malformed_request, request_too_many_values,
 * request_too_many_sources
 */
export async function readSubmission(
  bytes: Buffer<ArrayBuffer>,
  { way, contentType, chainId, address }: SubmissionForm,
  limits: RequestLimits,
): Promise<VerificationRequest> {
  const submission = await readParts(bytes, contentType, limits);
  const constructorArguments = readArguments(submission.fields);
  return {
    ...{ chainId, address, compilation: READERS[way](submission) },
    ...(constructorArguments && { constructorArguments }),
  };
}

async function readParts(
  bytes: Buffer<ArrayBuffer>,
  contentType: string,
  limits: RequestLimits,
): Promise<Submission> {
  if (!/^(?:multipart\/form-data|application\/x-www-form-urlencoded)/i.test(contentType)) {
    return {
      ...{ fields: fieldsOf(parseJsonBody(bytes, limits)), limits },
      files: [],
      interfaces: [],
    };
  }
  const fields = new Map<string, string>();
  const given: Record<'files' | 'interfaces', ReceivedFile[]> = { files: [], interfaces: [] };
  for (const [name, value] of (await readForm(bytes, contentType, limits)).entries()) {
    if (typeof value === 'string') {
      // Forms encode every line break as CRLF; sources use LF.
      if (FIELD_NAMES.has(name) && !fields.has(name))
        fields.set(name, value.replaceAll('\r\n', '\n'));
      continue;
    }
    const list = FILE_LIST.exec(name)?.[1] as 'files' | 'interfaces' | undefined;
    if (list !== undefined) given[list].push({ name: value.name, content: await value.bytes() });
  }
  const files = await readRequestFiles(given.files, bytes.length, limits);
  const interfaces = await readRequestFiles(given.interfaces, bytes.length, limits);
  requireSourceLimit(files.length + interfaces.length, limits);
  return { fields, files, interfaces, limits };
}

/** Reads the fields of a JSON body: strings, and other values as JSON text. */
function fieldsOf(body: Members): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const name of FIELD_NAMES) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    fields.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return fields;
}

const READERS: Readonly<Record<SubmissionFormat, (submission: Submission) => Compilation>> = {
  'standard-input': readStandardInput,
  'vyper-standard-input': readStandardInput,
  'flattened-code': (submission) => {
    const isYul = submission.fields.get('language')?.toLowerCase() === 'yul';
    const path = `${nameIn(submission, 'Contract')}.${isYul ? 'yul' : 'sol'}`;
    return readSolidity(submission, { [path]: requireField(submission, 'source_code') });
  },
  'multi-part': (submission) => readSolidity(submission, sourcesIn(submission)),
  'vyper-code': (submission) => {
    const path = `${nameIn(submission, 'Vyper_contract')}.vy`;
    return readVyper(submission, { [path]: requireField(submission, 'source_code') });
  },
  'vyper-multi-part': (submission) => readVyper(submission, sourcesIn(submission)),
  sourcify: ({ fields, files, limits }) => {
    requireFiles(files);
    const index = fields.get('chosen_contract_index')?.trim() ?? '';
    if (!/^\d{0,6}$/.test(index))
      throw invalidMember('chosen_contract_index', 'a number is expected');
    const chosen = chooseCompilation(files, index === '' ? undefined : Number(index), limits);
    if (!('choices' in chosen)) return chosen;
    throw invalidMember(
      'chosen_contract_index',
      `the files describe ${chosen.choices.length} contracts: the number of one of them is expected, counted from 0`,
    );
  },
};

/** Reads a standard JSON input, or contract metadata with embedded sources, which rocketh sends instead. */
function readStandardInput(submission: Submission): Compilation {
  const { files, limits } = submission;
  requireFiles(files);
  const document = files.find(({ name }) => name.endsWith('.json')) ?? files[0];
  const value = parseJsonText(document?.text ?? '', limits, 'The file of the standard JSON input');
  if (isMetadata(value)) {
    const others = files.filter((file) => file !== document);
    const sources = Object.fromEntries(others.map(({ name, text }) => [name, text]));
    return { kind: 'metadata', metadata: value, sources };
  }
  return compile(submission, toStandardJson(validateBody(standardJsonInputSchema, value)));
}

function readSolidity(
  submission: Submission,
  sources: Readonly<Record<string, string>>,
): Compilation {
  const { fields } = submission;
  const runs = fields.get('optimization_runs')?.trim() ?? '';
  if (!/^\d{0,10}$/.test(runs))
    throw invalidMember('optimization_runs', 'a whole number is expected');
  const isEnabled = ['true', '1'].includes(fields.get('is_optimization_enabled') ?? '');
  const isYul = Object.keys(sources).every((path) => path.endsWith('.yul'));
  return built(() =>
    compile(
      submission,
      buildStandardJson({
        sources,
        language: isYul ? 'Yul' : 'Solidity',
        optimizer: { enabled: isEnabled, ...(runs !== '' && { runs: Number(runs) }) },
        evmVersion: fieldOf(submission, 'evm_version'),
        libraries: librariesIn(submission),
        skipUnplacedLibraries: true,
      }),
      { isPlain: true },
    ),
  );
}

function readVyper(submission: Submission, sources: Readonly<Record<string, string>>): Compilation {
  const { limits } = submission;
  const parseAbi = abiParser(limits);
  const evmVersion = fieldOf(submission, 'evm_version');
  const interfaces = { ...textsIn(submission, 'interfaces'), ...namedTexts(submission.interfaces) };
  return built(() =>
    compile(submission, buildVyperJson({ sources, interfaces, evmVersion, parseAbi }), {
      isPlain: true,
    }),
  );
}

/** @throws FullmatchError invalid_parameter for sources or libraries that do not form a valid input */
function built(build: () => Compilation): Compilation {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof PlainSourcesError)) throw error;
    throw invalidMember(error.part, error.message.replace(/\.$/, ''));
  }
}

function compile(
  submission: Submission,
  input: StandardJsonInput,
  { isPlain = false } = {},
): Compilation {
  const compilerVersion = fieldOf(submission, 'compiler_version').replace(/^vyper:/, '');
  if (compilerVersion === '') throw invalidMember('compiler_version', 'it is missing');
  const contractIdentifier = findDeclaration(fieldOf(submission, 'contract_name'), input);
  return {
    ...{ kind: 'standard_json', input, compilerVersion },
    ...(isPlain && { trySettings: true }),
    ...(contractIdentifier !== undefined && { contractIdentifier }),
  };
}

function sourcesIn({ files }: Submission): Readonly<Record<string, string>> {
  requireFiles(files);
  return namedTexts(files);
}

const namedTexts = (files: readonly RequestFile[]): Readonly<Record<string, string>> =>
  Object.fromEntries(files.map(({ name, text }) => [name, text]));

/** @throws FullmatchError invalid_parameter */
function requireFiles(files: readonly RequestFile[]): void {
  if (files.length === 0) throw invalidMember('files', 'files[0] is expected, a file in a form');
}

/**
 * Reads the addresses of libraries by name.
 * @throws FullmatchError invalid_parameter, invalid_json, request_too_many_values
 */
function librariesIn(submission: Submission): Readonly<Record<string, string>> {
  return textsIn(submission, 'libraries');
}

/** Reads a field that is a JSON object of strings; returns `{}` if it is absent. */
function textsIn(
  { fields, limits }: Submission,
  name: 'libraries' | 'interfaces',
): Readonly<Record<string, string>> {
  const json = fields.get(name)?.trim() ?? '';
  if (json === '') return {};
  const value = parseJsonText(json, limits, `The parameter ${name}`);
  const entries = isMembers(value) ? Object.entries(value) : undefined;
  if (entries?.every((entry): entry is [string, string] => typeof entry[1] === 'string') !== true) {
    throw invalidMember(name, 'a JSON object of texts is expected');
  }
  return Object.fromEntries(entries);
}

/** Returns a file name, without extension, for the contract. */
function nameIn(submission: Submission, usual: string): string {
  const name = fieldOf(submission, 'contract_name');
  const path = name.slice(0, Math.max(0, name.lastIndexOf(':'))).replace(/\.(?:sol|vy|yul)$/, '');
  return path || name || usual;
}

/**
 * Returns a short field; empty if it is absent.
 * @throws FullmatchError invalid_parameter
 */
function fieldOf({ fields }: Submission, name: string): string {
  const value = fields.get(name)?.trim() ?? '';
  if (value.length > FIELD_MAX_CHARACTERS) throw invalidMember(name, 'a shorter text is expected');
  return value;
}

function requireField({ fields }: Submission, name: string): string {
  const value = fields.get(name) ?? '';
  if (value.trim() === '') throw invalidMember(name, 'it is missing');
  return value;
}

/**
 * Reads the constructor arguments, if the client turned their autodetection off.
 * @throws FullmatchError invalid_parameter
 */
function readArguments(fields: ReadonlyMap<string, string>): Hex | undefined {
  const digits = (fields.get('constructor_args') ?? '').trim().replace(/^0x/i, '').toLowerCase();
  if (digits === '' || fields.get('autodetect_constructor_args') !== 'false') return undefined;
  if (digits.length % 2 === 0 && !/[^0-9a-f]/.test(digits)) return `0x${digits}`;
  throw invalidMember('constructor_args', 'hexadecimal digits in pairs are expected');
}
