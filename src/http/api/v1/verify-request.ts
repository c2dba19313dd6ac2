import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { isTransactionHash, type Hex } from '../../../lib/hex.ts';
import { contractParameters } from '../../contract-parameters.ts';
import { parseJsonObject } from '../../read-json-body.ts';

type Members = Readonly<Record<string, unknown>>;

/** A request to verify as the API v1 has it, whichever way it was sent. */
export interface V1Request {
  readonly chainId: number;
  readonly address: Hex;
  readonly creationTransactionHash?: Hex;
  /** Name → text: metadata files and sources. */
  readonly files: Readonly<Record<string, string>>;
  /** Which of several contracts, by its place in the list of choices. */
  readonly chosenContract?: number;
}

/** A contract that the files describe. */
export interface V1Contract {
  readonly name: string;
  readonly path: string;
  readonly metadata: Members;
}

function invalid(parameter: string, expected: string): FullmatchError {
  return new FullmatchError('invalid_parameter', `${parameter}: ${expected}.`, {
    details: { parameter },
  });
}

/**
 * Reads a request in JSON or as a form with files.
 * @throws FullmatchError invalid_parameter, invalid_json, malformed_request
 */
export async function readV1Request(c: Context): Promise<V1Request> {
  const type = c.req.header('content-type') ?? '';
  const isForm = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)/i.test(type);
  const fields = isForm ? await readForm(c) : readJson(parseJsonObject(await c.req.text()));
  const parsed = contractParameters.safeParse({
    chainId: String(fields.chain),
    address: fields.address,
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const parameter = issue?.path[0] === 'chainId' ? 'chain' : 'address';
    throw invalid(parameter, issue?.message ?? 'another form is expected');
  }
  if (Object.keys(fields.files).length === 0) {
    throw invalid('files', 'a metadata.json and its sources are expected');
  }
  const hash = fields.creatorTxHash;
  if (hash !== undefined && !isTransactionHash(hash)) {
    throw invalid('creatorTxHash', '0x and 64 hexadecimal digits are expected');
  }
  return {
    ...parsed.data,
    files: fields.files,
    ...(hash !== undefined && { creationTransactionHash: hash.toLowerCase() as Hex }),
    ...readChoice(fields.chosenContract),
  };
}

interface Fields {
  readonly chain: unknown;
  readonly address: unknown;
  readonly creatorTxHash: string | undefined;
  readonly chosenContract: unknown;
  readonly files: Readonly<Record<string, string>>;
}

function readChoice(value: unknown): { readonly chosenContract?: number } {
  if (value === undefined || value === null || value === '') return {};
  const chosenContract = Number(value);
  if (Number.isSafeInteger(chosenContract) && chosenContract >= 0) return { chosenContract };
  throw invalid('chosenContract', 'the place of a contract in contractsToChoose is expected');
}

function textOrAbsent(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readJson(body: Members): Fields {
  const files = body['files'] ?? {};
  if (typeof files !== 'object' || Array.isArray(files)) {
    throw invalid('files', 'an object with the text of each file is expected');
  }
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

/** A form as it was sent. @throws FullmatchError malformed_request; what ended the body, such as request_too_large */
async function parseForm(c: Context): Promise<FormData> {
  try {
    return await c.req.formData();
  } catch (error) {
    if (error instanceof FullmatchError) throw error;
    throw new FullmatchError('malformed_request', 'The body is no form of the type that it says.');
  }
}

async function readForm(c: Context): Promise<Fields> {
  const form = await parseForm(c);
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

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readMetadata(text: string): V1Contract | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  let metadata: unknown;
  try {
    metadata = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isMembers(metadata) || !isMembers(metadata['settings'])) return undefined;
  const target = metadata['settings']['compilationTarget'];
  if (!isMembers(metadata['sources']) || !isMembers(target)) return undefined;
  const [path = '', name = ''] = Object.entries(target)[0] ?? [];
  return { path, name: typeof name === 'string' ? name : '', metadata };
}

/** The contracts of which the files hold the metadata, and the files that are none. */
export function splitFiles(files: V1Request['files']): {
  readonly contracts: readonly V1Contract[];
  readonly sources: Readonly<Record<string, string>>;
} {
  const read = Object.entries(files).map(([name, text]) => {
    return { name, text, contract: readMetadata(text) };
  });
  return {
    contracts: read.flatMap(({ contract }) => (contract === undefined ? [] : [contract])),
    sources: Object.fromEntries(
      read.filter(({ contract }) => contract === undefined).map(({ name, text }) => [name, text]),
    ),
  };
}
