import { z } from 'zod';

import { describeAddressFault, type Hex } from '../../../lib/hex.ts';
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
import { invalidMember, validateBody } from '../../bodies/validate-body.ts';
import { describeChainIdFault } from '../../chain-id-fault.ts';
import { namedValues } from '../../named-values.ts';
import { transactionHash } from '../v2/verify-body.ts';

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
const FILES_EXPECTED = 'an object with the text of each file is expected';
const CHOICE_EXPECTED = 'the place of a contract in contractsToChoose is expected';

/** Clients that read a metadata.json with a JSON loader send it as it was loaded. */
const loadedFile = z
  .custom<object>((value) => typeof value === 'object' && value !== null)
  .transform((file) => JSON.stringify(file));

/** Text that is judged as that of a parameter is; what is not text is judged as none. */
const judgedText = (faultOf: (text: string) => string | undefined) =>
  z.unknown().transform((value, context) => {
    // A JSON client may send the id of a chain as a number.
    const given = typeof value === 'number' ? String(value) : value;
    const judged = typeof given === 'string' ? given : '';
    const message = faultOf(judged);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
    return judged;
  });

/** The body of POST /verify, and what a form says with its fields and files. */
export const verifyBodySchema = z
  .object({
    address: judgedText(describeAddressFault)
      .transform((address) => address.toLowerCase() as Hex)
      .meta({ type: 'string' }),
    chain: judgedText(describeChainIdFault)
      .transform(Number)
      .meta({ type: 'string', description: 'Chain id in decimal digits' }),
    files: namedValues(z.union([z.string(), loadedFile], FILES_EXPECTED))
      .refine(
        (files) => Object.keys(files).length > 0,
        'a metadata.json and its sources are expected',
      )
      .meta({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'The metadata.json and its sources: name to text',
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
        description: 'Where the files describe several contracts: the place in contractsToChoose',
      }),
    creatorTxHash: transactionHash.optional(),
  })
  .meta({ id: 'V1VerifyRequest', description: 'A contract by its metadata and sources' });

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
    : parseJsonBody(bytes, limits);
  const {
    address,
    chain: chainId,
    files,
    chosenContract,
    creatorTxHash,
  } = validateBody(verifyBodySchema, { ...fields, chain: fields['chain'] ?? fields['chainId'] });
  requireFewSources(Object.keys(files).length, limits);
  const { contracts, sources } = splitFiles(files, limits);
  if (contracts.length === 0) throw invalidMember('files', 'none of them is a metadata.json');
  const chosen = chooseContract(chosenContract, contracts);
  if (chosen === undefined) {
    return { choices: contracts.map(({ name, path }) => ({ name, path })) };
  }
  return {
    verification: {
      chainId,
      address,
      ...(creatorTxHash && { creationTransactionHash: creatorTxHash }),
      compilation: { kind: 'metadata', metadata: chosen.metadata, sources },
    },
  };
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

/** The fields of a form, as a body in JSON has them. */
async function formFields(form: FormData): Promise<Members> {
  const files: (readonly [string, string])[] = [];
  for (const [field, value] of form.entries()) {
    if (typeof value !== 'string') files.push([value.name || field, await value.text()]);
  }
  const texts = ['chain', 'chainId', 'address', 'creatorTxHash', 'chosenContract'] as const;
  return {
    ...Object.fromEntries(texts.map((name) => [name, form.get(name) ?? undefined])),
    files: Object.fromEntries(files),
  };
}

/** The contracts that the files hold the metadata of, and the files that hold none. All files share one count of values. */
function splitFiles(
  files: Readonly<Record<string, string>>,
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
