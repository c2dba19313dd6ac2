import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { isMembers, type Members } from '../../lib/members.ts';
import {
  packRequest,
  type PackedRequest,
  type VerificationRequest,
} from '../../verification/verification-request.ts';
import { type BlockscoutForm, readVerifierRequest } from '../api/blockscout/verifier-request.ts';
import { readExplorerRecord } from '../api/etherscan/explorer-record.ts';
import { type EtherscanForm, readEtherscanRequest } from '../api/etherscan/verify-request.ts';
import { type ContractChoice, readPlaceBody, readV1Request } from '../api/v1/verify-request.ts';
import { MetadataFault, readMetadata } from '../../solidity/metadata.ts';
import { readBytecodeSearch, readSelectors } from '../api/blockscout/code-database-body.ts';
import { lookUpMethods } from '../api/blockscout/methods-body.ts';
import { readSubmission, type SubmissionForm } from '../api/blockscout/explorer/read-submission.ts';
import { readAbiBody, readEventsBody } from '../api/blockscout/signature-provider-body.ts';
import { readImportBody } from '../api/signatures/signatures-body.ts';
import { readSourcesBody } from '../api/sources/sources-body.ts';
import {
  readExplorerBody,
  readMetadataBody,
  readSimilarityBody,
  readStandardJsonBody,
} from '../api/v2/verify-body.ts';
import { invalidMember } from './validate-body.ts';
import {
  parseJsonBody,
  requireBoundedPaths,
  requireSourceLimit,
  type RequestLimits,
} from './request-limits.ts';

/** The contract that the path of a request names. */
interface ContractForm {
  readonly chainId: number;
  readonly address: Hex;
}

/** Reads one kind of body, with the facts that other parts of the request provide. */
type Reader = (bytes: Buffer<ArrayBuffer>, limits: RequestLimits, form: never) => unknown;

/** Submitted bytecode has no chain or address. */
const NO_PLACE = { chainId: 0, address: '0x' } as const;

const READERS = {
  standard_json: ofContract(readStandardJsonBody),
  metadata: ofContract(readMetadataBody),
  sources: ofContract(readSourcesBody),
  similarity: (bytes, limits, { chainId, address }: ContractForm) => {
    const submission = readSimilarityBody(parseOptionalBody(bytes, limits));
    return { request: packRequest({ chainId, address, ...submission }) };
  },
  explorer: (bytes, limits) => ({ explorer: readExplorerBody(parseOptionalBody(bytes, limits)) }),
  /** The response of another explorer. */
  explorer_record: (bytes, limits, { chainId, address }: ContractForm) => {
    const compilation = readExplorerRecord(bytes, limits);
    return packBounded({ chainId, address, compilation }, limits);
  },
  v1: async (bytes, limits, { contentType }: { readonly contentType: string }) => {
    const read = await readV1Request(bytes, contentType, limits);
    if (!('choices' in read)) return packBounded(read.verification, limits);
    requireShortNames(read.choices);
    return read;
  },
  /** A verification, or the fields of another action. */
  etherscan: async (bytes, limits, form: EtherscanForm) => {
    const read = await readEtherscanRequest(bytes, form, limits);
    if ('fields' in read) return read;
    return { ...packBounded(read.verification, limits), ...(read.key && { key: read.key }) };
  },
  blockscout_submission: async (bytes, limits, form: SubmissionForm) =>
    packBounded(await readSubmission(bytes, form, limits), limits),
  blockscout: (bytes, limits, form: BlockscoutForm) => {
    const { compilation, codes, wantsMethods } = readVerifierRequest(bytes, form, limits);
    const { request } = packBounded({ ...NO_PLACE, compilation }, limits);
    return { given: { request, codes }, wantsMethods };
  },
  signatures: (bytes, limits) => ({ signatures: readImportBody(bytes, limits) }),
  methods: (bytes, limits) => ({ methods: lookUpMethods(bytes, limits) }),
  provider_abi: (bytes, limits) => ({ accepted: readAbiBody(bytes, limits) }),
  provider_events: (bytes, limits) => ({ logs: readEventsBody(bytes, limits) }),
  place: (bytes, limits) => ({ place: readPlaceBody(bytes, limits) }),
  code_search: (bytes, limits) => ({ searched: readBytecodeSearch(bytes, limits, true) }),
  place_search: (bytes, limits) => ({ searched: readBytecodeSearch(bytes, limits, false) }),
  event_selector: (bytes, limits) => ({ selectors: readSelectors(bytes, limits, false) }),
  event_selectors: (bytes, limits) => ({ selectors: readSelectors(bytes, limits, true) }),
} satisfies Readonly<Record<string, Reader>>;

type Readers = typeof READERS;

/** What a body contains. */
export type BodyKind = keyof Readers;

type Forms = {
  [Kind in BodyKind]: { readonly kind: Kind } & (Readers[Kind] extends (
    bytes: never,
    limits: never,
    form: infer Form,
  ) => unknown
    ? Form
    : never);
};

/**
 * Expected kind of a body, with the facts that other parts of the request provide. The kind stands here once more
 * because TypeScript infers `Kind` from this member.
 */
export type BodyForm<Kind extends BodyKind = BodyKind> = { readonly kind: Kind } & Forms[Kind];

/** A parsed body of a kind. */
export type ParsedBody<Kind extends BodyKind = BodyKind> = {
  [Each in BodyKind]: Awaited<ReturnType<Readers[Each]>>;
}[Kind];

/**
 * Reads a body: parses, validates and packs it. May take seconds of CPU time.
 * @throws FullmatchError with the fault of the body
 */
export async function readRequest<Kind extends BodyKind>(
  bytes: Buffer<ArrayBuffer>,
  form: BodyForm<Kind>,
  limits: RequestLimits,
): Promise<ParsedBody<Kind>> {
  const read: Reader = READERS[form.kind];
  return (await read(bytes, limits, form as never)) as ParsedBody<Kind>;
}

/** Creates the reader of a JSON body that describes the compilation of the contract in the path. */
function ofContract(
  read: (body: Members, limits: RequestLimits) => Omit<VerificationRequest, keyof ContractForm>,
) {
  return (bytes: Buffer, limits: RequestLimits, { chainId, address }: ContractForm) => {
    const submission = read(parseJsonBody(bytes, limits), limits);
    return packBounded({ chainId, address, ...submission }, limits);
  };
}

/** Parses a body whose members are all optional: it may be empty. */
const parseOptionalBody = (bytes: Buffer, limits: RequestLimits): Members =>
  bytes.length === 0 ? {} : parseJsonBody(bytes, limits);

function packBounded(
  request: VerificationRequest,
  limits: RequestLimits,
): { readonly request: PackedRequest } {
  requireBounded(request.compilation, limits);
  return { request: packRequest(request) };
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
