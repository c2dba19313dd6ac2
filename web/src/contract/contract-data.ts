import {
  type ChainDetails,
  type ChosenContract,
  type ContractEvents,
  type ContractItem,
  type ContractPage,
  type Deployment,
  type Evidence,
  type SourcePage,
} from '../answers.ts';
import { type Api, type Loaded } from '../api.ts';
import { type PageRequest } from '../page.ts';
import { type AbiSignature, describeAbi } from './abi-signatures.ts';
import { findHiddenCharacters, type HiddenCharacter } from './hidden-characters.ts';
import { type Match, matchOf } from './verdict.ts';

/** A text, or only its beginning when it is long. */
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
  /** All files of the contract, also those of other pages. */
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
    | (Omit<NonNullable<ChosenContract['compilation']>, 'compilerSettings'> & {
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

/** One source for reading: only its beginning unless `isWhole`. */
export interface ShownSource {
  readonly path: string;
  readonly text: string;
  readonly bytes: number;
  readonly isWhole: boolean;
  readonly hidden: readonly HiddenCharacter[];
}

/** All that the page of a contract shows. */
export interface ContractData {
  readonly contract: Loaded<ContractFacts>;
  /** Why the sources could not be read. */
  readonly sources: Loaded<null>;
  readonly evidence: Loaded<Evidence>;
  /** Newest first. */
  readonly events: Loaded<ContractEvents>;
  readonly chain: Loaded<{ readonly name: string; readonly supported: boolean }>;
  readonly sameCode: Loaded<{
    readonly results: readonly ContractItem[];
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
/** Hidden characters of one file beyond this number are not counted. */
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
    api.get<ChosenContract>(`v2/contract/${chainId}/${address}?fields=${FIELDS}`),
    api.get<SourcePage>(`v1/contracts/${place}/sources?${chosen.toString()}`),
    api.get<Evidence>(`v1/contracts/${chainId}/${address}`),
    api.get<ContractEvents>(`v1/contracts/${chainId}/${address}/events`),
    api.get<ChainDetails>(`v1/chains/${chainId}`),
    api.get<ContractPage>(`v1/contracts/${chainId}/${address}/same-code`),
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
    sameCode: mapLoaded(sameCode, ({ results, next }) => ({ results, more: next !== null })),
  };
}

function mapLoaded<From, To>(loaded: Loaded<From>, change: (value: From) => To): Loaded<To> {
  return loaded.state === 'failed' ? loaded : { ...loaded, value: change(loaded.value) };
}

function toFacts(wire: ChosenContract): Omit<ContractFacts, 'hiddenIn'> {
  const { compilation } = wire;
  const signatures = describeAbi(wire.abi);
  return {
    address: wire.address,
    match: matchOf(wire.match),
    runtimeMatch: matchOf(wire.runtimeMatch ?? null),
    creationMatch: matchOf(wire.creationMatch ?? null),
    ...(wire.verifiedAt !== undefined && { verifiedAt: wire.verifiedAt }),
    compilation: compilation && toCompilation(compilation),
    deployment: wire.deployment,
    signatures: signatures.slice(0, SIGNATURES_SHOWN),
    ...(wire.abi && { abi: showJson(wire.abi) }),
  };
}

/** What else than contents of sources holds characters that nobody sees. */
function describeHidden(
  { compilation, abi }: ChosenContract,
  sources: SourcePage | undefined,
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
  { total, sources, next, shown }: SourcePage,
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

function showSource({ path, bytes, content }: NonNullable<SourcePage['shown']>): ShownSource {
  const text = content.slice(0, Math.min(SOURCE_SHOWN_CHARACTERS, endOfLines(content)));
  // Every character is one byte at least, so that a shorter text is not all of it.
  const isWhole = text.length === content.length && new TextEncoder().encode(text).length === bytes;
  return { path, bytes, text, isWhole, hidden: findHiddenCharacters(content, HIDDEN_TOLD) };
}

function toCompilation({
  compilerSettings,
  ...rest
}: NonNullable<ChosenContract['compilation']>): ContractFacts['compilation'] {
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
