// Finds metadata and sources of a contract by the metadata hash in its bytecode, using untrusted gateways.
import {
  METADATA_HASH_BYTES,
  readTrailingAuxdata,
  type MetadataHashKind,
} from '../../bytecode/auxdata.ts';
import { withDeadline } from '../../lib/deadline.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type MetadataCompilation } from '../../verification/verification-request.ts';
import { collectSources, type FindStoredSources } from './collect-sources.ts';
import { ContentFault } from './content-fault.ts';
import { type Gateway, parseGateway } from './gateways/gateway.ts';
import { GatewayClient } from './gateways/gateway-client.ts';
import { IpfsBlocks } from './gateways/ipfs-blocks.ts';
import { SearchBudget } from './gateways/search-budget.ts';
import { SwarmContents } from './gateways/swarm-contents.ts';
import { cidOfFile } from './ipfs/cid.ts';
import { IpfsFiles } from './ipfs/read-file.ts';
import { readMetadataDocument } from './metadata-document.ts';
import { DEFAULT_SOURCE_LIMITS, type SourceLimits } from './source-limits.ts';
import { hashMetadataCooperatively } from './cooperative-hash.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';

/** Why no sources were found. */
export type SourcesNotFoundReason =
  | 'no_metadata_hash'
  | 'metadata_unavailable'
  | 'metadata_invalid'
  | 'source_unavailable'
  | 'sources_too_large';

/** Result of searching for the sources of a contract. */
export type FoundSources =
  | {
      readonly kind: 'found';
      readonly compilation: MetadataCompilation;
      /** Origin of the gateway that delivered the metadata. */
      readonly from: string;
    }
  | {
      readonly kind: 'not_found';
      readonly reason: SourcesNotFoundReason;
      /** For people: the content searched for, and the response of each gateway. Shows only the origins of URLs. */
      readonly detail: string;
      /** Whether the result is permanent, whichever gateways are used. */
      readonly isFinal: boolean;
    };

type NotFound = Extract<FoundSources, { kind: 'not_found' }>;

/** Dependencies of a source finder. */
export interface SourceFinderDependencies {
  readonly fetch: GuardedFetch;
  /** Base URLs of trustless gateways, in the order in which they are tried. */
  readonly ipfsGateways: readonly string[];
  readonly swarmGateways: readonly string[];
  /** Looks up sources that are already stored, before any gateway is used. */
  readonly findStoredSources?: FindStoredSources;
  readonly limits?: Partial<SourceLimits>;
}

interface FindOptions {
  /** IPFS gateways that are tried before the common ones. */
  readonly gateways?: readonly string[];
  readonly signal: AbortSignal;
}

/** Finds sources of contracts. */
export interface SourceFinder {
  /**
   * Finds the compilation of runtime bytecode by the metadata hash at its end. Rejects with the signal's
   * reason, and with errors of the store.
   * @throws TypeError if a gateway is not a URL
   */
  find(code: Uint8Array, options: FindOptions): Promise<FoundSources>;
}

interface MetadataName {
  readonly kind: MetadataHashKind;
  readonly hash: Buffer;
}

const METADATA_REASONS = {
  unavailable: 'metadata_unavailable',
  malformed: 'metadata_invalid',
  too_large: 'metadata_invalid',
} as const;
const SOURCE_REASONS = {
  unavailable: 'source_unavailable',
  malformed: 'source_unavailable',
  too_large: 'sources_too_large',
} as const;

function notFound(
  reason: SourcesNotFoundReason,
  detail: string,
  isFinal = reason !== 'metadata_unavailable' && reason !== 'source_unavailable',
): NotFound {
  return { kind: 'not_found', reason, detail, isFinal };
}

function readMetadataName(code: Uint8Array): MetadataName | undefined {
  const auxdata = readTrailingAuxdata(code);
  if (auxdata?.metadataHash === undefined) return undefined;
  const { kind, offset } = auxdata.metadataHash;
  const start = auxdata.offset + offset;
  return { kind, hash: Buffer.from(code.subarray(start, start + METADATA_HASH_BYTES)) };
}

/** Merges a chain's own gateways with the common ones, without duplicates; the chain's own come first. */
function mergeGateways(own: readonly string[], common: readonly Gateway[]): Gateway[] {
  const gateways = [...own.map(parseGateway), ...common];
  const urls = gateways.map((gateway) => gateway.ipfsUrl('', 'raw'));
  return gateways.filter((_gateway, index) => urls.indexOf(urls[index] ?? '') === index);
}

/** State of one search: for one contract, with one deadline and one set of limits. */
interface Search {
  readonly blocks: IpfsBlocks;
  readonly ipfs: IpfsFiles;
  readonly swarm: SwarmContents;
  readonly findStored: FindStoredSources;
  readonly limits: SourceLimits;
  readonly pauses: EventLoopYielder;
  /** Aborts at the deadline, or when the caller aborts. */
  readonly ending: AbortSignal;
  readonly stop: () => void;
}

interface FetchedMetadata {
  readonly bytes: Buffer;
  readonly from: string;
}

async function fetchMetadata(
  { kind, hash }: MetadataName,
  { blocks, ipfs, swarm, pauses, limits: { metadataBytes: maxBytes } }: Search,
): Promise<FetchedMetadata> {
  if (kind === 'ipfs') {
    const bytes = await ipfs.read(cidOfFile(hash), maxBytes);
    return { bytes, from: blocks.origin };
  }
  const isContent = async (bytes: Buffer): Promise<boolean> =>
    hash.equals(await hashMetadataCooperatively(kind, bytes, pauses));
  const question = { hash: hash.toString('hex'), maxBytes, isContent, isChecked: true };
  const found = await swarm.get(question);
  return { bytes: found.bytes, from: found.origin };
}

/** Returns the result of a step, or the finding that it failed. */
async function attempt<Result>(
  reasons: typeof METADATA_REASONS | typeof SOURCE_REASONS,
  ending: AbortSignal,
  step: () => Promise<Result>,
): Promise<{ readonly result: Result } | NotFound> {
  try {
    return { result: await step() };
  } catch (error) {
    if (error instanceof ContentFault) return notFound(reasons[error.kind], error.message);
    if (!ending.aborted) throw error;
    const { reason } = ending as { reason: unknown };
    return notFound(reasons.unavailable, reason instanceof Error ? reason.message : 'It ended.');
  }
}

async function search(name: MetadataName, parts: Search): Promise<FoundSources> {
  const { ipfs, swarm, findStored, limits, pauses, ending, stop } = parts;
  const document = await attempt(METADATA_REASONS, ending, async () => {
    const { bytes, from } = await fetchMetadata(name, parts);
    await pauses.take();
    return { ...readMetadataDocument(bytes, limits), from };
  });
  if ('reason' in document) return document;
  const { metadata, sources: listed, from } = document.result;
  const storage = name.kind === 'ipfs' ? 'ipfs' : 'swarm';
  const sources = await attempt(SOURCE_REASONS, ending, () =>
    collectSources(listed, { ipfs, swarm, storage, findStored, limits, pauses, stop }),
  );
  if ('reason' in sources) return sources;
  const compilation = { kind: 'metadata', metadata, sources: sources.result } as const;
  return { kind: 'found', compilation, from };
}

const findNothing: FindStoredSources = () => Promise.resolve({ bytes: 0, contents: new Map() });

/**
 * Creates a source finder. It remembers which gateways fail or return wrong content, and rests them.
 * @throws TypeError if a gateway is not a URL
 */
export function createSourceFinder(parts: SourceFinderDependencies): SourceFinder {
  const limits = { ...DEFAULT_SOURCE_LIMITS, ...parts.limits };
  const ipfsGateways = parts.ipfsGateways.map(parseGateway);
  const swarmGateways = parts.swarmGateways.map(parseGateway);
  const client = new GatewayClient(parts.fetch, limits.requestMs);
  const pauses = new EventLoopYielder();
  const { findStoredSources: findStored = findNothing } = parts;
  return {
    async find(code, { gateways = [], signal }) {
      const name = readMetadataName(code);
      if (name === undefined) {
        return notFound('no_metadata_hash', 'The code does not end with the hash of its metadata.');
      }
      const merged = mergeGateways(gateways, ipfsGateways);
      return withDeadline('All gateways', limits.totalMs, signal, async (ending) => {
        const stopped = new AbortController();
        const spending = new SearchBudget(limits);
        const both = AbortSignal.any([ending, stopped.signal]);
        const blocks = new IpfsBlocks(client, merged, spending, both, pauses);
        const found = await search(name, {
          blocks,
          ipfs: new IpfsFiles({ blocks, spending, pauses }),
          swarm: new SwarmContents(client, swarmGateways, spending, both),
          findStored,
          limits,
          pauses,
          ending,
          stop: () => stopped.abort(),
        });
        signal.throwIfAborted();
        return found;
      });
    },
  };
}
