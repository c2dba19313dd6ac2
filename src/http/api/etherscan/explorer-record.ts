import { z } from 'zod';

import { FullmatchError } from '../../../errors.ts';
import { isMembers, type Members, membersOf } from '../../../lib/members.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { parseUntrustedJson } from '../../../lib/untrusted-json.ts';
import {
  buildStandardJson,
  findDeployableContracts,
  isDefaultEvmVersion,
  PlainSourcesError,
} from '../../../solidity/build-standard-json.ts';
import { type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { explorerError, explorerRateLimited } from '../../../chains/explorer/explorer-sources.ts';
import { type StandardJsonCompilation } from '../../../verification/verification-request.ts';
import { type RequestLimits } from '../../bodies/request-limits.ts';
import { parseStandardJsonParameter } from './verify-request.ts';

/** Explorers may write null for an empty text. */
const optionalText = z.string().nullish();

/** The record of `getsourcecode`. Blockscout writes some members differently and adds others. */
const recordSchema = z.looseObject({
  SourceCode: optionalText,
  ContractName: z.string(),
  CompilerVersion: z.string(),
  ContractFileName: optionalText,
  FileName: optionalText,
  OptimizationUsed: z.union([z.string(), z.boolean(), z.number()]).nullish(),
  Runs: z.union([z.string(), z.int()]).nullish(),
  OptimizationRuns: z.union([z.string(), z.int()]).nullish(),
  EVMVersion: optionalText,
  Library: optionalText,
  /** An object, or its JSON text. */
  CompilerSettings: z
    .union([z.looseObject({}), z.string()])
    .nullish()
    .catch(undefined),
  ExternalLibraries: z
    .array(z.looseObject({ name: z.string(), address_hash: z.string() }))
    .nullish()
    .catch(undefined),
  AdditionalSources: z
    .array(z.looseObject({ Filename: z.string(), SourceCode: z.string() }))
    .nullish(),
});
type ExplorerRecord = z.infer<typeof recordSchema>;

const answerSchema = z.looseObject({
  status: z.unknown(),
  message: z.unknown(),
  result: z.union([z.string(), z.tuple([recordSchema]).rest(z.unknown())]),
});

const SHOWN_CHARACTERS = 200;
/** Words long enough to be an API key in a response that is quoted. */
const LONG_WORD = /[\w-]{20,}/g;

/**
 * Reads the compilation from another explorer's response to `getsourcecode`.
 * @throws FullmatchError not_etherscan_verified, etherscan_limit, etherscan_request_failed,
 * malformed_etherscan_response
 */
export function readExplorerRecord(
  bytes: Buffer<ArrayBuffer>,
  limits: RequestLimits,
): StandardJsonCompilation {
  const { result } = parse(answerSchema, json(bytes, limits));
  if (typeof result === 'string') throw refusalOf(result);
  const [record] = result;
  const source = record.SourceCode ?? '';
  if (source === '') throw notVerified();
  const path = [record.ContractFileName, record.FileName].find((name) => (name ?? '') !== '');
  const compilerVersion = record.CompilerVersion.replace(/^vyper:/, '');
  // Blockscout reveals the language only through the file name.
  const isVyper = compilerVersion !== record.CompilerVersion || /\.vyi?$/.test(path ?? '');
  const document = /^\{\s{0,8}\{/.test(source) ? standardJsonIn(source, limits) : undefined;
  const isComplete = document !== undefined && hasSettings(document);
  const input = isComplete
    ? document
    : inputOf(record, document ?? source, { path: path ?? undefined, isVyper }, limits);
  const contractIdentifier = identify(record.ContractName, path ?? undefined, input);
  return {
    ...{ kind: 'standard_json', input, compilerVersion },
    ...(!isComplete && { trySettings: true }),
    ...(contractIdentifier !== undefined && { contractIdentifier }),
  };
}

/** Returns the error for a text that an explorer sends instead of a record. */
function refusalOf(text: string): FullmatchError {
  if (/rate limit/i.test(text)) return explorerRateLimited();
  if (/not verified/i.test(text)) return notVerified();
  const shown = printableText(text, SHOWN_CHARACTERS).replaceAll(LONG_WORD, '***');
  return explorerError(`refuses the question (${shown})`);
}

function notVerified(): FullmatchError {
  return new FullmatchError(
    'not_etherscan_verified',
    'The explorer from which contracts are imported has not verified this contract; send its sources.',
  );
}

function malformed(what: string): FullmatchError {
  return new FullmatchError(
    'malformed_etherscan_response',
    `The explorer's answer is of no use: ${what}. Send the sources.`,
  );
}

function json(bytes: Uint8Array, limits: RequestLimits): unknown {
  try {
    return parseUntrustedJson(bytes, limits);
  } catch (error) {
    throw malformed(error instanceof Error ? error.message.replace(/\.$/, '') : 'no JSON');
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw malformed('a member is missing or of another type than getsourcecode has');
}

/**
 * Builds the input from any form the record may have: standard JSON in extra braces, sources as JSON, or a
 * single text.
 */
function inputOf(
  record: ExplorerRecord,
  source: string | StandardJsonInput,
  { path, isVyper }: { readonly path: string | undefined; readonly isVyper: boolean },
  limits: RequestLimits,
): StandardJsonInput {
  if (typeof source !== 'string') {
    const isVyperJson = source.language === 'Vyper';
    const { settings } = withSettings(record, textsOf(source), source.settings, isVyperJson);
    return { ...source, settings };
  }
  const named = path ?? `${record.ContractName}.${isVyper ? 'vy' : 'sol'}`;
  const more = record.AdditionalSources ?? [];
  const held = source.startsWith('{') ? sourcesIn(source, limits) : undefined;
  const sources = held?.sources ?? {
    [named]: source,
    ...Object.fromEntries(more.map(({ Filename, SourceCode }) => [Filename, SourceCode])),
  };
  const settings = { ...settingsIn(record, limits), ...held?.settings };
  return withSettings(record, sources, settings, isVyper);
}

/** Whether an input has settings: explorers may list them beside it instead. */
const hasSettings = ({ settings }: StandardJsonInput): boolean =>
  Object.keys(settings).some((name) => name !== 'outputSelection');

const textsOf = ({ sources }: StandardJsonInput): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(sources).map(([path, { content = '' }]) => [path, content]));

function standardJsonIn(source: string, limits: RequestLimits): StandardJsonInput {
  try {
    return parseStandardJsonParameter(Buffer.from(source), limits);
  } catch (error) {
    if (error instanceof FullmatchError) throw malformed(error.message.replace(/\.$/, ''));
    throw error;
  }
}

/** Reads the member that holds compiler settings. */
function settingsIn({ CompilerSettings: given }: ExplorerRecord, limits: RequestLimits): Members {
  if (typeof given !== 'string') return given ?? {};
  try {
    const value = parseUntrustedJson(Buffer.from(given), limits);
    return membersOf(value);
  } catch {
    return {};
  }
}

/**
 * Reads several sources from one JSON object, which may also hold settings. Returns undefined if the text is
 * not such an object; a Yul source, for example, starts with a brace too.
 */
function sourcesIn(
  source: string,
  limits: RequestLimits,
): { readonly sources: Readonly<Record<string, string>>; readonly settings: Members } | undefined {
  const schema = z.record(z.string(), z.looseObject({ content: z.string() }));
  let value: unknown;
  try {
    value = parseUntrustedJson(Buffer.from(source), limits);
  } catch {
    return undefined;
  }
  const held = isMembers(value) && isMembers(value['sources']) ? value['sources'] : value;
  const { data } = schema.safeParse(held);
  if (data === undefined) return undefined;
  const sources = Object.entries(data).map(([path, { content }]) => [path, content] as const);
  const settings = held !== value && isMembers(value) ? value['settings'] : undefined;
  return {
    sources: Object.fromEntries(sources),
    settings: membersOf(settings),
  };
}

/** Builds an input from the complete settings in the record and the settings in its other members. */
function withSettings(
  record: ExplorerRecord,
  sources: Readonly<Record<string, string>>,
  given: Members,
  isVyper: boolean,
): StandardJsonInput {
  const evmVersion = (record.EVMVersion ?? '').toLowerCase();
  const hasEvmVersion = !isDefaultEvmVersion(evmVersion);
  if (isVyper) {
    const contents = Object.entries(sources).map(([path, content]) => [path, { content }] as const);
    return {
      language: 'Vyper',
      sources: Object.fromEntries(contents),
      settings: { ...(hasEvmVersion && { evmVersion }), ...given },
    };
  }
  const isEnabled = ['1', 'true', true, 1].includes(record.OptimizationUsed ?? '');
  const runs = Number(record.OptimizationRuns ?? record.Runs ?? NaN);
  try {
    const input = buildStandardJson({
      sources,
      optimizer: {
        enabled: isEnabled,
        ...(Number.isSafeInteger(runs) && runs >= 0 && { runs }),
      },
      evmVersion,
      libraries: Object.fromEntries(librariesIn(record)),
      skipUnplacedLibraries: true,
    });
    // Compiler settings omit options that are off.
    const { optimizer, ...others } = input.settings;
    const isStated = isEnabled || Object.keys(given).length === 0;
    return { ...input, settings: { ...others, ...(isStated && { optimizer }), ...given } };
  } catch (error) {
    if (error instanceof PlainSourcesError) throw malformed(error.message.replace(/\.$/, ''));
    throw error;
  }
}

type LibraryEntry = readonly [name: string, address: string];

/** Lists the libraries of a record, in the common form `Name:address;Name:address` or in Blockscout's form. */
function librariesIn({ Library, ExternalLibraries }: ExplorerRecord): readonly LibraryEntry[] {
  const listed = (Library ?? '').split(/[;,]/).flatMap((entry): readonly LibraryEntry[] => {
    const colon = entry.lastIndexOf(':');
    return colon < 1 ? [] : [[entry.slice(0, colon).trim(), entry.slice(colon + 1).trim()]];
  });
  const external = (ExternalLibraries ?? []).map(
    ({ name, address_hash: address }): LibraryEntry => [name, address],
  );
  return [...listed, ...external];
}

/**
 * Returns `path:Name`; undefined if the record does not identify the source, in which case the bytecode on
 * chain does.
 */
function identify(
  name: string,
  path: string | undefined,
  input: StandardJsonInput,
): string | undefined {
  const { language, sources } = input;
  if (path !== undefined && Object.hasOwn(sources, path)) {
    // Explorers name a Vyper contract by the title in its documentation.
    const file = path.slice(path.lastIndexOf('/') + 1).replace(/\.vyi?$/, '');
    return `${path}:${language === 'Vyper' ? file : name}`;
  }
  const found = findDeployableContracts(textsOf(input)).filter((each) => each.name === name);
  const [only, another] = found;
  return only !== undefined && another === undefined ? `${only.path}:${name}` : undefined;
}
