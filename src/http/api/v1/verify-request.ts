import { z } from 'zod';

import { FullmatchError } from '../../../errors.ts';
import { describeAddressFault, type Hex } from '../../../lib/hex.ts';
import { type Members } from '../../../lib/members.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { countJsonValues } from '../../../lib/untrusted-json.ts';
import { isMetadata, listedSourcesOf, targetOf } from '../../../solidity/metadata.ts';
import { readInputFiles } from '../../../solidity/read-input-files.ts';
import { type VerificationRequest } from '../../../verification/verification-request.ts';
import { readForm } from '../../bodies/read-form.ts';
import {
  asRequestError,
  parseJsonBody,
  requireSourceLimit,
  type RequestLimits,
} from '../../bodies/request-limits.ts';
import { invalidMember, validateBody } from '../../bodies/validate-body.ts';
import { describeChainIdFault } from '../../chain-id-fault.ts';
import { namedValues } from '../../named-values.ts';
import { type ContractReference } from '../../contract-reference.ts';
import { readStandardJsonBody, transactionHash } from '../v2/verify-body.ts';
import {
  type ReceivedFile,
  readJsonFile,
  readRequestFiles,
  type RequestFile,
} from './request-files.ts';

/** One of several contracts that the files of a request describe. */
export interface ContractChoice {
  readonly name: string;
  readonly path: string;
}

/** A request of the API v1: a verification, or contracts to choose from. */
export type V1Request =
  { readonly verification: VerificationRequest } | { readonly choices: readonly ContractChoice[] };

/** A contract that the files describe. */
interface DescribedContract extends ContractChoice {
  readonly compilation: VerificationRequest['compilation'];
}

const NAME_SHOWN_CHARACTERS = 200;
const FILES_EXPECTED = 'an object with the text of each file is expected';
const CHOICE_EXPECTED = 'the index of a contract in contractsToChoose is expected';

/** Clients that load files as JSON send the parsed value; Node.js clients may send a Buffer. */
const fileContent = z.unknown().transform((value, context) => {
  const content = readJsonFile(value);
  if (content !== undefined) return content;
  context.addIssue({ code: 'custom', message: FILES_EXPECTED });
  return z.NEVER;
});

/** Schema of text that is validated like a parameter; any other value counts as empty text. */
const judgedText = (faultOf: (text: string) => string | undefined) =>
  z.unknown().transform((value, context) => {
    // A JSON client may send a chain id as a number.
    const given = typeof value === 'number' ? String(value) : value;
    const judged = typeof given === 'string' ? given : '';
    const message = faultOf(judged);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
    return judged;
  });

/** The body of POST /verify, also the shape into which a form is converted. */
export const verifyBodySchema = z
  .object({
    address: judgedText(describeAddressFault)
      .transform((address) => address.toLowerCase() as Hex)
      .meta({ type: 'string' }),
    chain: judgedText(describeChainIdFault)
      .transform(Number)
      .meta({ type: 'string', description: 'Chain id in decimal digits' }),
    files: namedValues(fileContent)
      .optional()
      .meta({
        type: 'object',
        additionalProperties: { type: 'string' },
        description:
          'Name to text: a metadata.json and its sources, a build info, a standard JSON input, an artifact of Foundry',
      }),
    chosenContract: z
      .union([z.string(), z.int()], CHOICE_EXPECTED)
      .nullish()
      .transform((choice) => ((choice ?? '') === '' ? undefined : Number(choice)))
      .refine(
        (place) => place === undefined || (Number.isSafeInteger(place) && place >= 0),
        CHOICE_EXPECTED,
      )
      .optional()
      .meta({
        anyOf: [{ type: 'string' }, { type: 'integer' }],
        description: 'If the files describe several contracts: the index in contractsToChoose',
      }),
    creatorTxHash: transactionHash.optional(),
  })
  .meta({ id: 'V1VerifyRequest', description: 'A contract by its metadata and sources' });

const placeBodySchema = verifyBodySchema.pick({ address: true, chain: true });

/** Reads the chain and the address of a body. @throws FullmatchError invalid_json, invalid_parameter */
export function readPlaceBody(bytes: Uint8Array, limits: RequestLimits): ContractReference {
  const { chain, address } = validateBody(placeBodySchema, parseJsonBody(bytes, limits));
  return { chainId: chain, address };
}

/**
 * Reads a request in JSON or as a form with files.
 * @throws FullmatchError files_missing, invalid_parameter, invalid_json, malformed_request, request_too_many_values,
 * request_too_many_sources
 */
export async function readV1Request(
  bytes: Buffer<ArrayBuffer>,
  contentType: string,
  limits: RequestLimits,
): Promise<V1Request> {
  const isForm = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)/i.test(contentType);
  const form = isForm ? await readForm(bytes, contentType, limits) : undefined;
  const fields = form === undefined ? parseJsonBody(bytes, limits) : textsOf(form);
  const {
    address,
    chain: chainId,
    files,
    chosenContract,
    creatorTxHash,
  } = validateBody(verifyBodySchema, { ...fields, chain: fields['chain'] ?? fields['chainId'] });
  const given =
    form === undefined
      ? Object.entries(files ?? {}).map(([name, content]) => ({ name, content }))
      : await filesOf(form);
  if (given.length === 0) {
    const message = 'The request names a contract and holds no files; send them in "files".';
    throw new FullmatchError('files_missing', message);
  }
  requireSourceLimit(given.length, limits);
  const read = await readRequestFiles(given, bytes.length, limits);
  const chosen = chooseCompilation(read, chosenContract, limits);
  if ('choices' in chosen) return chosen;
  return {
    verification: {
      chainId,
      address,
      ...(creatorTxHash && { creationTransactionHash: creatorTxHash }),
      compilation: chosen,
    },
  };
}

/**
 * Returns the compilation that files describe, or the contracts to choose from if they describe several.
 * @param place index of the chosen contract
 * @throws FullmatchError invalid_parameter, invalid_json, request_too_many_values, request_too_many_sources
 */
export function chooseCompilation(
  files: readonly RequestFile[],
  place: number | undefined,
  limits: RequestLimits,
): VerificationRequest['compilation'] | { readonly choices: readonly ContractChoice[] } {
  const contracts = describeContracts(files, limits);
  if (contracts.length === 0) {
    throw invalidMember(
      'files',
      'none of them is a metadata.json, a build info, a standard JSON input or an artifact',
    );
  }
  const chosen = chooseContract(place, contracts);
  if (chosen !== undefined) return chosen.compilation;
  return { choices: contracts.map(({ name, path }) => ({ name, path })) };
}

function chooseContract(
  place: number | undefined,
  contracts: readonly DescribedContract[],
): DescribedContract | undefined {
  if (contracts.length === 1) return contracts[0];
  if (place === undefined) return undefined;
  const chosen = contracts[place];
  if (chosen !== undefined) return chosen;
  throw invalidMember('chosenContract', `there are ${contracts.length} contracts, counted from 0`);
}

const FORM_FIELDS = ['chain', 'chainId', 'address', 'creatorTxHash', 'chosenContract'] as const;

/** Returns the fields of a form in the shape of a JSON body. */
function textsOf(form: FormData): Members {
  return Object.fromEntries(FORM_FIELDS.map((name) => [name, form.get(name) ?? undefined]));
}

/** Returns the files of a form. A part without a file name also counts as a file, unless it is a field. */
async function filesOf(form: FormData): Promise<readonly ReceivedFile[]> {
  const files: ReceivedFile[] = [];
  for (const [field, value] of form.entries()) {
    if (typeof value !== 'string') {
      files.push({ name: value.name || field, content: await value.bytes() });
    } else if (!FORM_FIELDS.some((name) => name === field)) {
      files.push({ name: field, content: value });
    }
  }
  return files;
}

/** Lists the contracts that the files describe. All files share one limit on JSON values. */
function describeContracts(
  files: readonly RequestFile[],
  limits: RequestLimits,
): readonly DescribedContract[] {
  let { values } = limits;
  const metadata = new Map<RequestFile, Members>();
  for (const file of files) {
    if (!/^\s*\{/.test(file.text)) continue;
    const json = parseFile(file, { ...limits, values });
    values -= json.values;
    if (isMetadata(json.value)) metadata.set(file, json.value);
  }
  if (metadata.size === 0) return describeBuild(files, limits);
  const others = files.filter((file) => !metadata.has(file));
  const sources = Object.fromEntries(others.map(({ name, text }) => [name, text]));
  return [...metadata.values()].map((document) => describeMetadata(document, sources, limits));
}

function describeMetadata(
  metadata: Members,
  sources: Readonly<Record<string, string>>,
  limits: RequestLimits,
): DescribedContract {
  requireSourceLimit(listedSourcesOf(metadata).length, limits);
  const { path = '', name = '' } = targetOf(metadata) ?? {};
  return { path, name, compilation: { kind: 'metadata', metadata, sources } };
}

/** Lists the contracts of a build info, a standard JSON input or an artifact. */
function describeBuild(
  files: readonly RequestFile[],
  limits: RequestLimits,
): readonly DescribedContract[] {
  const read = readInputFiles(files.map(({ name, text }) => ({ path: name, text })));
  if (read.kind === 'unusable') throw invalidMember('files', read.reason.replace(/\.$/, ''));
  return read.compilations.flatMap((found): readonly DescribedContract[] => {
    if (found.kind === 'metadata') return [describeMetadata(found.metadata, found.sources, limits)];
    if (found.kind === 'sources') return [];
    const { input: stdJsonInput, compilerVersion, contracts } = found;
    if (compilerVersion === undefined) {
      throw invalidMember(
        'files',
        'a build info that names the version of the compiler is expected',
      );
    }
    return contracts.map((contractIdentifier) => {
      const asked = { stdJsonInput, compilerVersion, contractIdentifier };
      const colon = contractIdentifier.lastIndexOf(':');
      return {
        path: contractIdentifier.slice(0, colon),
        name: contractIdentifier.slice(colon + 1),
        compilation: readStandardJsonBody(asked).compilation,
      };
    });
  });
}

/**
 * Parses a file as JSON; returns no value if it is not JSON, since a source may start with a brace too (Yul,
 * for example).
 */
function parseFile(
  { name, text }: RequestFile,
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
