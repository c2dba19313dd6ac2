import { z } from 'zod';
import { FullmatchError } from '../errors.ts';
import { hexToBytes, type Hex } from '../lib/hex.ts';
import { parseJson } from '../lib/parse-json.ts';
import { type Match } from '../repository/repository.ts';
import { type DeliveredContract, type DeliveredFacts } from './delivered-contract.ts';
import { Refusal } from './refusal.ts';
import { type RemoteSource } from './remote-source.ts';
import { toTreeEntry, type TreeEntry } from './repository-tree.ts';
import { containsHashOf, restoreMetadata } from './restore-metadata.ts';

const feedEventSchema = z.object({
  kind: z.enum(['stored', 'upgraded', 'withdrawn']),
  chainId: z.int().positive(),
  address: z.string().max(42),
  match: z.enum(['full', 'partial']).nullable(),
});
const feedPageSchema = z.object({
  results: z.array(feedEventSchema),
  next: z.string().max(100).nullable(),
  hasMore: z.boolean(),
});
type FeedEvent = z.infer<typeof feedEventSchema>;

const match = z.enum(['exact_match', 'match']).nullable();
const hex = z
  .string()
  .regex(/^0x(?:[0-9a-f]{2})*$/)
  .nullable();
const digits = z
  .string()
  .regex(/^-?[0-9]{1,15}$/)
  .nullable();
const codeSchema = z.object({
  onchainBytecode: hex,
  recompiledBytecode: hex,
  transformations: z.unknown().optional(),
  transformationValues: z.unknown().optional(),
  sourceMap: z.unknown().optional(),
  linkReferences: z.unknown().optional(),
  immutableReferences: z.unknown().optional(),
  cborAuxdata: z.unknown().optional(),
});
const recordSchema = z.object({
  runtimeMatch: match,
  creationMatch: match,
  runtimeBytecode: codeSchema,
  creationBytecode: codeSchema,
  deployment: z.object({
    transactionHash: z.string().nullable(),
    blockNumber: digits,
    transactionIndex: digits,
    deployer: z.string().nullable(),
  }),
  compilation: z.object({
    language: z.string(),
    compiler: z.string(),
    compilerVersion: z.string(),
    compilerSettings: z.record(z.string(), z.unknown()),
    name: z.string(),
    fullyQualifiedName: z.string(),
  }),
  stdJsonInput: z.object({
    sources: z.record(z.string(), z.object({ content: z.string() })),
  }),
  metadata: z.unknown().optional(),
  abi: z.unknown().optional(),
  sourceIds: z.unknown().optional(),
  userdoc: z.unknown().optional(),
  devdoc: z.unknown().optional(),
  storageLayout: z.unknown().optional(),
  transientStorageLayout: z.unknown().optional(),
});
type ContractRecord = z.infer<typeof recordSchema>;

const FIELDS = [
  ...['runtimeBytecode', 'creationBytecode', 'deployment', 'compilation', 'stdJsonInput'],
  ...['metadata', 'abi', 'sourceIds', 'userdoc', 'devdoc', 'storageLayout'],
  'transientStorageLayout',
].join();
const MATCHES = { exact_match: 'full', match: 'partial' } as const;

/** Progress of an import in the feed of another service. */
export interface InstanceWalk {
  /** Cursor of the last run; absent to read the whole feed. */
  readonly after?: string;
  /** Receives the cursor after each page, once its contracts have been walked. */
  readonly onCursor: (cursor: string) => void;
}

/**
 * Returns whether a web server is a Fullmatch with a feed.
 * @throws FullmatchError `import_source_unavailable`
 */
export async function hasFeed(remote: RemoteSource): Promise<boolean> {
  const { status, headers } = await remote.get('/v1/feed');
  return status === 200 && (headers['content-type'] ?? '').startsWith('application/json');
}

/**
 * Walks the contracts of another Fullmatch in feed order (`GET /v1/feed`). Each contract is read as its
 * current record (`GET /v2/contract/{chainId}/{address}`) and passes the same checks as a database row.
 * @throws FullmatchError `import_source_unavailable`, `feed_position_unknown`
 */
export async function* walkInstance(
  remote: RemoteSource,
  { after, onCursor }: InstanceWalk,
): AsyncGenerator<TreeEntry, void, undefined> {
  for (let cursor = after, hasMore = true; hasMore;) {
    const page = await readPage(remote, cursor);
    for (const event of newestOfEach(page.results)) yield asTreeEntry(remote, event);
    if (page.hasMore && (page.next === null || page.next === cursor)) throw noFeed(remote, cursor);
    if (page.next !== null) onCursor((cursor = page.next));
    ({ hasMore } = page);
  }
}

async function readPage(
  remote: RemoteSource,
  cursor: string | undefined,
): Promise<z.infer<typeof feedPageSchema>> {
  const path = cursor === undefined ? '/v1/feed' : `/v1/feed?after=${encodeURIComponent(cursor)}`;
  const { status, body } = await remote.get(path);
  if (status === 410) {
    throw new FullmatchError(
      'feed_position_unknown',
      `${remote.base} does not have the position of the last import in its feed: it was restored from a backup, or is another service. Read all of it again with --whole.`,
    );
  }
  const parsed =
    status === 200 ? feedPageSchema.safeParse(parseJson(body.toString('utf8'))) : undefined;
  if (parsed?.success === true) return parsed.data;
  throw noFeed(remote, cursor);
}

/** The response is not a page of a feed, or the feed does not advance. */
function noFeed(remote: RemoteSource, cursor: string | undefined): FullmatchError {
  return new FullmatchError(
    'import_source_unavailable',
    `cannot read ${remote.base}/v1/feed${cursor === undefined ? '' : ` after ${cursor}`}: it is not a page of a feed`,
  );
}

/** The newest event of each contract of a page. */
function newestOfEach(events: readonly FeedEvent[]): readonly FeedEvent[] {
  const newest = new Map(
    events.map((event) => [`${event.chainId}/${event.address.toLowerCase()}`, event]),
  );
  return [...newest.values()];
}

function asTreeEntry(remote: RemoteSource, event: FeedEvent): TreeEntry {
  const path = `contract/${event.chainId}/${event.address}`;
  const { match, address } = event;
  return toTreeEntry(path, [String(event.chainId), address], (place) => {
    if (match === null) throw new Refusal('withdrawn_there', path);
    const list = (): Promise<DeliveredContract> => readRecord(remote, place);
    return { ...place, match, list };
  });
}

async function readRecord(
  remote: RemoteSource,
  { chainId, address, path }: { chainId: number; address: Hex; path: string },
): Promise<DeliveredContract> {
  const answer = await remote.getJson(
    `/v2/contract/${chainId}/${address}?fields=${FIELDS}`,
    new Refusal('file_too_large', path, 'the record is too large to be read'),
  );
  if (answer === undefined) throw new Refusal('withdrawn_there', path);
  const parsed = recordSchema.safeParse(answer);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Refusal(
      'broken_row',
      path,
      `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
    );
  }
  const record = parsed.data;
  const matches = {
    runtime: matchOf(record.runtimeMatch),
    creation: matchOf(record.creationMatch),
  };
  if (matches.runtime === null) throw new Refusal('no_runtime_match', path);
  const sources = Object.entries(record.stdJsonInput.sources).map(([name, { content }]) => ({
    path: name,
    content,
  }));
  try {
    const metadata = await readMetadata(remote, chainId, address, record);
    const facts = { ...factsOf(record), metadata };
    return { address, facts, sources, matches, isRewritten: false };
  } catch (error) {
    // JSON nested too deeply to serialize.
    if (error instanceof RangeError) throw new Refusal('broken_row', path);
    throw error;
  }
}

/**
 * The metadata byte for byte. The record contains it as JSON; the hash in the bytecode confirms its bytes, or
 * else the file provides them.
 */
async function readMetadata(
  remote: RemoteSource,
  chainId: number,
  address: Hex,
  { metadata, runtimeBytecode }: ContractRecord,
): Promise<string | null> {
  if (metadata === null || metadata === undefined) return null;
  const recompiled = bytesOf(runtimeBytecode.recompiledBytecode);
  const restored = restoreMetadata(JSON.stringify(metadata), recompiled);
  if (recompiled !== null && containsHashOf(recompiled, restored) === true) return restored;
  const file = await remote.get(`/v1/contracts/${chainId}/${address}/files/metadata.json`);
  return file.status === 200 ? file.body.toString('utf8') : restored;
}

function factsOf(record: ContractRecord): Omit<DeliveredFacts, 'metadata'> {
  const { runtimeBytecode: runtime, creationBytecode: creation, deployment, compilation } = record;
  return {
    language: compilation.language.toLowerCase(),
    compiler: compilation.compiler,
    version: compilation.compilerVersion,
    name: compilation.name,
    fully_qualified_name: compilation.fullyQualifiedName,
    settings: JSON.stringify(compilation.compilerSettings),
    artifacts: JSON.stringify({
      abi: record.abi ?? null,
      sources: record.sourceIds ?? null,
      ...known({
        userdoc: record.userdoc,
        devdoc: record.devdoc,
        storageLayout: record.storageLayout,
        transientStorageLayout: record.transientStorageLayout,
      }),
    }),
    runtime_artifacts: artifactsOf(runtime),
    recompiled: bytesOf(runtime.recompiledBytecode),
    on_chain: bytesOf(runtime.onchainBytecode),
    runtime_transformations: textOf(runtime.transformations),
    runtime_values: textOf(runtime.transformationValues),
    creation_artifacts: artifactsOf(creation),
    recompiled_creation: bytesOf(creation.recompiledBytecode),
    creation_on_chain: bytesOf(creation.onchainBytecode),
    has_creation: creation.onchainBytecode !== null,
    creation_transformations: textOf(creation.transformations),
    creation_values: textOf(creation.transformationValues),
    additional_input: null,
    block_number: numberOf(deployment.blockNumber),
    transaction_index: numberOf(deployment.transactionIndex),
    deployer: (deployment.deployer?.toLowerCase() ?? null) as Hex | null,
    transaction_hash: deployment.transactionHash,
  };
}

/** The members that have a value; null if there are none. */
function known(members: Readonly<Record<string, unknown>>): object | null {
  const entries = Object.entries(members).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

const artifactsOf = (code: z.infer<typeof codeSchema>): string | null => {
  const { sourceMap, linkReferences, immutableReferences, cborAuxdata } = code;
  return textOf(known({ sourceMap, linkReferences, immutableReferences, cborAuxdata }));
};
const matchOf = (name: z.infer<typeof match>): Match | null =>
  name === null ? null : MATCHES[name];
const bytesOf = (text: string | null): Buffer | null => (text === null ? null : hexToBytes(text));
const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);
const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));
