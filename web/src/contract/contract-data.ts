import { type Api, type Loaded } from '../api.ts';
import { type PageRequest } from '../page.ts';
import { type AbiSignature, describeAbi } from './abi-signatures.ts';
import { findHiddenCharacters, type HiddenCharacter } from './hidden-characters.ts';
import { type Match, matchOf } from './verdict.ts';

/** GET /v2/contract, as far as the page asks for it. */
interface WireContract {
  readonly match: string | null;
  readonly runtimeMatch: string | null;
  readonly creationMatch: string | null;
  readonly address: string;
  readonly verifiedAt?: string;
  readonly compilation: {
    readonly language: string;
    readonly compiler: string;
    readonly compilerVersion: string;
    readonly compilerSettings: unknown;
    readonly name: string;
    readonly fullyQualifiedName: string;
  } | null;
  readonly deployment: Deployment;
  readonly abi: unknown;
}

/** GET /v1/contracts/{chainId}/{address}/sources. */
interface WireSources {
  readonly total: number;
  readonly metadataBytes: number;
  readonly sources: readonly {
    readonly path: string;
    readonly bytes: number;
    readonly content: string | null;
  }[];
  readonly next: string | null;
  readonly shown: {
    readonly path: string;
    readonly bytes: number;
    readonly content: string;
  } | null;
}

/** Where a contract was created; what is not known is null. */
export interface Deployment {
  readonly transactionHash: string | null;
  readonly blockNumber: string | null;
  readonly transactionIndex: string | null;
  readonly deployer: string | null;
}

/** A text of which only the beginning may be shown. */
export interface ShownText {
  readonly text: string;
  readonly characters: number;
}

/** A source, without its content. */
export interface SourceFile {
  readonly path: string;
  readonly hidden: number;
}

/** The files of a contract that one page names. */
export interface SourceFiles {
  /** Of the whole contract. */
  readonly total: number;
  readonly files: readonly SourceFile[];
  /** Behind which path this page begins, and the next one. */
  readonly after?: string;
  readonly next?: string;
}

/** A verified contract as its page shows it. */
export interface ContractFacts {
  readonly address: string;
  readonly match: Match | null;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly verifiedAt?: string;
  readonly compilation:
    | (Omit<NonNullable<WireContract['compilation']>, 'compilerSettings'> & {
        readonly settings: ShownText;
      })
    | null;
  readonly deployment: Deployment;
  /** Absent where they could not be read. */
  readonly sources?: SourceFiles;
  readonly shown?: ShownSource;
  /** What else holds characters that nobody sees, in words. */
  readonly hiddenIn: readonly string[];
  readonly signatures: readonly AbiSignature[];
  readonly abi?: ShownText;
  readonly metadata?: ShownText;
}

/** The source that is shown, or its beginning. */
export interface ShownSource {
  readonly path: string;
  readonly text: string;
  readonly bytes: number;
  readonly isWhole: boolean;
  readonly hidden: readonly HiddenCharacter[];
}

/** GET /v1/contracts/{chainId}/{address}. */
export interface Evidence {
  readonly origin: string;
  readonly firstVerifiedAt: string;
  /** What the match does not prove. */
  readonly unproven: readonly string[];
  readonly codeReading: {
    readonly blockNumber: number;
    readonly blockHash: string;
    readonly endpoints: readonly string[];
    readonly witnesses?: number;
  } | null;
  readonly creationSearch:
    | readonly { readonly method: string; readonly outcome: string; readonly detail?: string }[]
    | null;
  /** Whether there are files that the metadata does not list and that the code needs. */
  readonly hasUnlistedSources: boolean;
  /** Other texts that give the code of a partial match. */
  readonly alternatives: readonly Alternative[];
  readonly runtimeCode: CodeHashes;
  readonly creationCode: CodeHashes;
}

interface CodeHashes {
  readonly onChain: string | null;
  readonly recompiled: string | null;
}

/** Another text that gives the code of a partial match. */
export interface Alternative {
  readonly matchId: string;
  readonly name: string;
  readonly compilerVersion: string;
  readonly recordedAt: string;
}

/** GET /v1/contracts/{chainId}/{address}/events: one of them. */
export interface ContractEvent {
  readonly eventNumber: string;
  readonly kind: 'stored' | 'upgraded' | 'withdrawn' | 'corrected';
  readonly match: Match | null;
  readonly origin: string | null;
  readonly at: string;
  readonly reason?: string;
}

/** A contract of GET /v1/contracts and of the same code elsewhere. */
export interface ListedContract {
  readonly chainId: number;
  readonly address: string;
  readonly match: Match;
  readonly name: string | null;
  readonly verifiedAt: string;
}

/** All that the page of a contract shows. */
export interface ContractData {
  readonly contract: Loaded<ContractFacts>;
  /** Why the sources could not be read. */
  readonly sources: Loaded<null>;
  readonly evidence: Loaded<Evidence>;
  /** Newest first. */
  readonly events: Loaded<{ readonly results: readonly ContractEvent[] }>;
  readonly chain: Loaded<{ readonly name: string; readonly supported: boolean }>;
  readonly sameCode: Loaded<{
    readonly results: readonly ListedContract[];
    readonly more: boolean;
  }>;
}

const FIELDS = 'compilation,deployment,abi';
/** Metadata of contracts with very many files is among the downloads only. */
const METADATA_READ_BYTES = 1_000_000;
const SOURCE_SHOWN_CHARACTERS = 300_000;
const SOURCE_SHOWN_LINES = 10_000;
const JSON_SHOWN_CHARACTERS = 60_000;
const SIGNATURES_SHOWN = 400;
/** Of one file: more of them are counted as this many. */
const HIDDEN_TOLD = 100;

/** Reads what the page of a contract shows. */
export async function loadContract(
  api: Api,
  { params, query }: PageRequest,
): Promise<ContractData> {
  const [chainId = '', address = ''] = [params['chain'], params['address']].map((part) =>
    encodeURIComponent(part ?? ''),
  );
  const asked = new URLSearchParams(query);
  const [source, after] = [asked.get('source'), asked.get('files')];
  const chosen = new URLSearchParams({
    ...(source !== null && { path: source }),
    ...(after !== null && { after }),
  });
  const place = `${chainId}/${address}`;
  const [contract, sources, evidence, events, chain, sameCode] = await Promise.all([
    api.get<WireContract>(`v2/contract/${chainId}/${address}?fields=${FIELDS}`),
    api.get<WireSources>(`v1/contracts/${place}/sources?${chosen.toString()}`),
    api.get<Evidence>(`v1/contracts/${chainId}/${address}`),
    api.get<{ results: ContractEvent[] }>(`v1/contracts/${chainId}/${address}/events`),
    api.get<{ record: { name: string; supported: boolean } }>(`v1/chains/${chainId}`),
    api.get<{ results: ListedContract[]; next?: unknown }>(
      `v1/contracts/${chainId}/${address}/same-code`,
    ),
  ]);
  const { metadataBytes = 0 } = sources.state === 'ready' ? sources.value : {};
  const metadata =
    metadataBytes > 0 && metadataBytes <= METADATA_READ_BYTES
      ? await api.get<{ metadata: unknown }>(`v2/contract/${place}?fields=metadata`)
      : undefined;
  return {
    contract: mapLoaded(contract, (wire) => ({
      ...toFacts(wire),
      ...(sources.state === 'ready' && describeSources(sources.value, after)),
      hiddenIn: describeHidden(wire, sources.state === 'ready' ? sources.value : undefined),
      ...(metadata?.state === 'ready' &&
        metadata.value.metadata !== null && { metadata: showJson(metadata.value.metadata) }),
    })),
    sources: mapLoaded(sources, () => null),
    evidence,
    events,
    chain: mapLoaded(chain, ({ record: { name, supported } }) => ({ name, supported })),
    sameCode: mapLoaded(sameCode, ({ results, next }) => ({
      results,
      more: next !== null && next !== undefined,
    })),
  };
}

function mapLoaded<From, To>(loaded: Loaded<From>, change: (value: From) => To): Loaded<To> {
  return loaded.state === 'failed' ? loaded : { ...loaded, value: change(loaded.value) };
}

function toFacts(wire: WireContract): Omit<ContractFacts, 'hiddenIn'> {
  const { compilation } = wire;
  const signatures = describeAbi(wire.abi);
  return {
    address: wire.address,
    match: matchOf(wire.match),
    runtimeMatch: matchOf(wire.runtimeMatch),
    creationMatch: matchOf(wire.creationMatch),
    ...(wire.verifiedAt !== undefined && { verifiedAt: wire.verifiedAt }),
    compilation: compilation && toCompilation(compilation),
    deployment: wire.deployment,
    signatures: signatures.slice(0, SIGNATURES_SHOWN),
    ...(wire.abi !== null && { abi: showJson(wire.abi) }),
  };
}

/** What else than contents of sources holds characters that nobody sees. */
function describeHidden(
  { compilation, abi }: WireContract,
  sources: WireSources | undefined,
): string[] {
  const texts = {
    'the name of the contract': compilation?.fullyQualifiedName ?? '',
    'paths of sources': (sources?.sources ?? []).map(({ path }) => path).join(),
    'the ABI': describeAbi(abi)
      .map(({ text }) => text)
      .join(),
  };
  return Object.entries(texts).flatMap(([name, text]) =>
    findHiddenCharacters(text, 1).length > 0 ? [name] : [],
  );
}

function describeSources(
  { total, sources, next, shown }: WireSources,
  after: string | null,
): Pick<ContractFacts, 'sources' | 'shown'> {
  const files = sources.map(({ path, content }) => ({
    path,
    hidden: findHiddenCharacters(content ?? '', HIDDEN_TOLD).length,
  }));
  return {
    sources: {
      total,
      files,
      ...(after !== null && { after }),
      ...(next !== null && { next }),
    },
    ...(shown !== null && { shown: showSource(shown) }),
  };
}

function showSource({ path, bytes, content }: NonNullable<WireSources['shown']>): ShownSource {
  const text = content.slice(0, Math.min(SOURCE_SHOWN_CHARACTERS, endOfLines(content)));
  // Every character is one byte at least, so that a shorter text is not all of it.
  const isWhole = text.length === content.length && new TextEncoder().encode(text).length === bytes;
  return { path, bytes, text, isWhole, hidden: findHiddenCharacters(content, HIDDEN_TOLD) };
}

function toCompilation({
  compilerSettings,
  ...rest
}: NonNullable<WireContract['compilation']>): ContractFacts['compilation'] {
  return { ...rest, settings: showJson(compilerSettings) };
}

function showJson(value: unknown): ShownText {
  return shorten(JSON.stringify(value ?? null, null, 2), JSON_SHOWN_CHARACTERS);
}

/** Where the last line ends that may be shown. */
function endOfLines(text: string): number {
  let end = -1;
  for (let line = 0; line < SOURCE_SHOWN_LINES; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) return text.length;
  }
  return end;
}

function shorten(text: string, limit: number): ShownText {
  return { text: text.slice(0, limit), characters: text.length };
}
