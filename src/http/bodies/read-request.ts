import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { isMembers } from '../../lib/members.ts';
import type { LogEntry } from '../../repository/repository.ts';
import { type SubmittedCodeRequest } from '../../verification/submitted-codes/submitted-codes.ts';
import {
  packRequest,
  type PackedRequest,
  type VerificationRequest,
} from '../../verification/verification-request.ts';
import { type EtherscanFields } from '../api/etherscan/etherscan-fields.ts';
import { type BlockscoutForm, readVerifierRequest } from '../api/blockscout/verifier-request.ts';
import { readExplorerRecord } from '../api/etherscan/explorer-record.ts';
import { type EtherscanForm, readEtherscanRequest } from '../api/etherscan/verify-request.ts';
import { type ContractChoice, readPlaceBody, readV1Request } from '../api/v1/verify-request.ts';
import { MetadataFault, readMetadata } from '../../solidity/metadata.ts';
import {
  type BytecodeSearch,
  readBytecodeSearch,
  readSelectors,
} from '../api/blockscout/code-database-body.ts';
import { lookUpMethods } from '../api/blockscout/methods-body.ts';
import { type MethodLocation } from '../../verification/submitted-codes/locate-methods.ts';
import { readSubmission, type SubmissionForm } from '../api/blockscout/explorer/read-submission.ts';
import { readAbiBody, readEventsBody } from '../api/blockscout/signature-provider-body.ts';
import { type ParsedSignatureImport, readImportBody } from '../api/signatures/signatures-body.ts';
import { readSourcesBody } from '../api/sources/sources-body.ts';
import {
  type ExplorerRequest,
  readExplorerBody,
  readMetadataBody,
  readSimilarityBody,
  readStandardJsonBody,
} from '../api/v2/verify-body.ts';
import { type ContractReference } from '../contract-reference.ts';
import { invalidMember } from './validate-body.ts';
import {
  parseJsonBody,
  requireBoundedPaths,
  requireSourceLimit,
  type RequestLimits,
} from './request-limits.ts';

/** Expected kind of a body, with the facts that other parts of the request provide. */
export type BodyKind =
  | {
      readonly kind: 'standard_json' | 'metadata' | 'sources';
      readonly chainId: number;
      readonly address: Hex;
    }
  | {
      /** A similarity search, an import from another explorer, and that explorer's response. */
      readonly kind: 'similarity' | 'explorer' | 'explorer_record';
      readonly chainId: number;
      readonly address: Hex;
    }
  | { readonly kind: 'v1'; readonly contentType: string }
  | { readonly kind: 'signatures' }
  | { readonly kind: 'methods' }
  | { readonly kind: 'provider_abi' }
  | { readonly kind: 'provider_events' }
  | { readonly kind: 'code_search' }
  | { readonly kind: 'place_search' }
  | { readonly kind: 'place' }
  | { readonly kind: 'event_selector' }
  | { readonly kind: 'event_selectors' }
  | EtherscanForm
  | BlockscoutForm
  | SubmissionForm;

/** Submitted bytecode has no chain or address. */
const NO_PLACE = { chainId: 0, address: '0x' } as const;

const READERS = {
  standard_json: readStandardJsonBody,
  metadata: readMetadataBody,
  sources: readSourcesBody,
} as const;

/**
 * Parsed body: a verification, a verification of submitted bytecode, an import from another explorer,
 * contracts to choose from, fields of the Etherscan protocol, signatures to import, logs to decode, methods
 * to locate, a search by bytecode or address, or event hashes to look up.
 */
export type ParsedBody =
  | { readonly request: PackedRequest; readonly key?: string }
  | { readonly choices: readonly ContractChoice[] }
  | { readonly given: SubmittedCodeRequest; readonly wantsMethods: boolean }
  | { readonly explorer: ExplorerRequest }
  | { readonly fields: EtherscanFields }
  | {
      readonly signatures: Pick<ParsedSignatureImport, 'accepted'> & Partial<ParsedSignatureImport>;
    }
  | { readonly logs: readonly LogEntry[] }
  | { readonly methods: Readonly<Record<string, MethodLocation>> }
  | { readonly searched: BytecodeSearch }
  | { readonly place: ContractReference }
  | { readonly selectors: readonly Hex[] };

/**
 * Reads a body: parses, validates and packs it. May take seconds of CPU time.
 * @throws FullmatchError with the fault of the body
 */
export async function readRequest(
  bytes: Buffer<ArrayBuffer>,
  form: BodyKind,
  limits: RequestLimits,
): Promise<ParsedBody> {
  if (form.kind === 'v1') {
    const read = await readV1Request(bytes, form.contentType, limits);
    if ('choices' in read) {
      requireShortNames(read.choices);
      return read;
    }
    requireBounded(read.verification.compilation, limits);
    return { request: packRequest(read.verification) };
  }
  if (form.kind === 'etherscan') {
    const read = await readEtherscanRequest(bytes, form, limits);
    if ('fields' in read) return read;
    requireBounded(read.verification.compilation, limits);
    return { request: packRequest(read.verification), ...(read.key && { key: read.key }) };
  }
  if (form.kind === 'blockscout_submission') {
    const submission = await readSubmission(bytes, form, limits);
    requireBounded(submission.compilation, limits);
    return { request: packRequest(submission) };
  }
  if (form.kind === 'blockscout') {
    const { compilation, codes, wantsMethods } = readVerifierRequest(bytes, form, limits);
    requireBounded(compilation, limits);
    const request = packRequest({ ...NO_PLACE, compilation });
    return { given: { request, codes }, wantsMethods };
  }
  if (form.kind === 'signatures') return { signatures: readImportBody(bytes, limits) };
  if (form.kind === 'methods') return { methods: lookUpMethods(bytes, limits) };
  if (form.kind === 'provider_abi') return { signatures: { accepted: readAbiBody(bytes, limits) } };
  if (form.kind === 'place') return { place: readPlaceBody(bytes, limits) };
  if (form.kind === 'code_search' || form.kind === 'place_search') {
    return { searched: readBytecodeSearch(bytes, limits, form.kind === 'code_search') };
  }
  if (form.kind === 'event_selector' || form.kind === 'event_selectors') {
    return { selectors: readSelectors(bytes, limits, form.kind === 'event_selectors') };
  }
  if (form.kind === 'provider_events') return { logs: readEventsBody(bytes, limits) };
  const { kind, chainId, address } = form;
  if (kind === 'similarity') {
    // All members are optional, so the body may be empty.
    const submission = readSimilarityBody(bytes.length === 0 ? {} : parseJsonBody(bytes, limits));
    return { request: packRequest({ chainId, address, ...submission }) };
  }
  if (kind === 'explorer') {
    return { explorer: readExplorerBody(bytes.length === 0 ? {} : parseJsonBody(bytes, limits)) };
  }
  if (kind === 'explorer_record') {
    const compilation = readExplorerRecord(bytes, limits);
    requireBounded(compilation, limits);
    return { request: packRequest({ chainId, address, compilation }) };
  }
  const body = parseJsonBody(bytes, limits);
  const submission = READERS[kind](body, limits);
  requireBounded(submission.compilation, limits);
  return { request: packRequest({ chainId, address, ...submission }) };
}

/** Limit on the names and paths of all contracts to choose from, in bytes: the response lists them. */
const MAX_CHOICE_BYTES = 262_144;

/** @throws FullmatchError request_too_large */
function requireShortNames(choices: readonly ContractChoice[]): void {
  const bytes = choices.reduce(
    (sum, { name, path }) => sum + Buffer.byteLength(name) + Buffer.byteLength(path),
    0,
  );
  if (bytes <= MAX_CHOICE_BYTES) return;
  throw new FullmatchError(
    'request_too_large',
    `The files describe several contracts, whose names and paths have more than ${MAX_CHOICE_BYTES} bytes; send the metadata of one of them.`,
    { details: { limitBytes: MAX_CHOICE_BYTES } },
  );
}

/** Returns all source text of a request: sent alongside metadata, embedded in it, or in a standard JSON input. */
function textsOf(compilation: VerificationRequest['compilation']): readonly string[] {
  const [beside, within]: readonly [readonly string[], unknown] =
    compilation.kind === 'metadata'
      ? [
          Object.values(compilation.sources),
          (compilation.metadata as { sources?: unknown }).sources,
        ]
      : [[], compilation.input.sources];
  const contents = isMembers(within) ? Object.values(within) : [];
  return [
    ...beside,
    ...contents.flatMap((source) => {
      const content = isMembers(source) ? source['content'] : undefined;
      return typeof content === 'string' ? [content] : [];
    }),
  ];
}

function requireBounded(
  compilation: VerificationRequest['compilation'],
  limits: RequestLimits,
): void {
  const named =
    compilation.kind === 'metadata'
      ? [compilation.sources, (compilation.metadata as { sources?: unknown }).sources]
      : [compilation.input.sources];
  for (const each of named) {
    if (!isMembers(each)) continue;
    const paths = Object.keys(each);
    requireSourceLimit(paths.length, limits);
    requireBoundedPaths(paths);
  }
  const size = textsOf(compilation).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (size > limits.sourceBytes) throw tooMuchText('The sources have', limits);
  // Settings, metadata output and names are also stored while the job waits.
  if (sizeBeside(compilation) > limits.sourceBytes) {
    throw tooMuchText('Apart from the sources, the request has', limits);
  }
  if (compilation.kind === 'metadata') requireWholeMetadata(compilation.metadata);
}

/** @throws FullmatchError invalid_parameter for metadata without the members that every compiler writes */
function requireWholeMetadata(metadata: unknown): void {
  try {
    readMetadata(metadata);
  } catch (error) {
    if (!(error instanceof MetadataFault)) throw error;
    // The verification itself rejects unsupported languages.
    if (error.part === 'language' && isMembers(metadata) && metadata['language']) return;
    throw invalidMember('metadata', error.message.replace(/\.$/, ''));
  }
}

function tooMuchText(what: string, { sourceBytes: limitBytes }: RequestLimits): FullmatchError {
  return new FullmatchError(
    'request_too_large',
    `${what} more than ${limitBytes} bytes of text; send what the compilation needs.`,
    { details: { limitBytes } },
  );
}

/** Returns the size of a compilation as JSON without its source texts, in bytes. */
function sizeBeside(compilation: VerificationRequest['compilation']): number {
  const [whole, rest] =
    compilation.kind === 'metadata'
      ? [compilation.metadata, { sources: Object.keys(compilation.sources) }]
      : [compilation.input, { ...compilation, input: undefined }];
  const beside = isMembers(whole) ? { ...whole, sources: withoutTexts(whole['sources']) } : whole;
  return Buffer.byteLength(JSON.stringify([beside, rest]));
}

function withoutTexts(sources: unknown): unknown {
  if (!isMembers(sources)) return sources;
  return Object.entries(sources).map(([path, source]) => [
    path,
    isMembers(source) && typeof source['content'] === 'string'
      ? { ...source, content: '' }
      : source,
  ]);
}
