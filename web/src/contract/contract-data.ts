import { pathPart } from '../../../client/src/path-part.ts';
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
import {
  findHiddenCharacters,
  type HiddenCharacter,
  splitAtHiddenCharacters,
} from './hidden-characters.ts';
import { showJson, type ShownText } from './shown-json.ts';
import { cutPath, cutPaths, queryOfFiles, queryOfSource, takeWithin } from './shown-paths.ts';
import { type Match, matchOf } from './verdict.ts';

/** A source, without its content. */
export interface SourceFile {
  /** A long one with its ends only, see {@link cutPath}. */
  readonly path: string;
  readonly hidden: number;
  /** What shows it; absent where no link can name it. */
  readonly query?: string;
}

/** The files of a contract that one page names. */
export interface SourceFiles {
  /** All files of the contract, also those of other pages. */
  readonly total: number;
  readonly files: readonly SourceFile[];
  /** Whether others stand before and behind these. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** What shows the next ones; absent where no link can name them. */
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
/** Runs of hidden characters: each is an element of its own. */
const SOURCE_SHOWN_MARKS = 2_000;
/** Of the paths of a page and of the links to them, together. */
const PATHS_SHOWN_CHARACTERS = 200_000;
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
    pathPart(part ?? ''),
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
    contract: mapLoaded(contract, (wire) => {
      const facts = toFacts(wire);
      return {
        ...facts,
        ...(sources.state === 'ready' && describeSources(sources.value, after)),
        hiddenIn: describeHidden(
          wire,
          facts,
          sources.state === 'ready' ? sources.value : undefined,
        ),
        ...(metadata?.state === 'ready' &&
          metadata.value.metadata !== null && {
            metadata: showJson(metadata.value.metadata, JSON_SHOWN_CHARACTERS),
          }),
      };
    }),
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
  return {
    address: wire.address,
    match: matchOf(wire.match),
    runtimeMatch: matchOf(wire.runtimeMatch ?? null),
    creationMatch: matchOf(wire.creationMatch ?? null),
    ...(wire.verifiedAt !== undefined && { verifiedAt: wire.verifiedAt }),
    compilation: compilation && toCompilation(compilation),
    deployment: wire.deployment,
    signatures: describeAbi(wire.abi, SIGNATURES_SHOWN),
    ...(wire.abi && { abi: showJson(wire.abi, JSON_SHOWN_CHARACTERS) }),
  };
}

/** What else than contents of sources holds characters that nobody sees. */
function describeHidden(
  { compilation }: ChosenContract,
  { signatures }: Pick<ContractFacts, 'signatures'>,
  sources: SourcePage | undefined,
): string[] {
  const texts = {
    'the name of the contract': compilation?.fullyQualifiedName ?? '',
    'paths of sources': (sources?.sources ?? []).map(({ path }) => path).join(),
    'the ABI': signatures.map(({ text }) => text).join(),
  };
  return Object.entries(texts).flatMap(([name, text]) =>
    findHiddenCharacters(text, 1).length > 0 ? [name] : [],
  );
}

function describeSources(
  { total, sources, next, shown }: SourcePage,
  after: string | null,
): Pick<ContractFacts, 'sources' | 'shown'> {
  const labels = cutPaths(sources.map(({ path }) => path));
  const labelOf = (path: string): string => labels.get(path) ?? cutPath(path);
  const files = sources.map(({ path, content }): SourceFile => {
    const query = queryOfSource(path, after ?? undefined);
    return {
      path: labelOf(path),
      hidden: findHiddenCharacters(content ?? '', HIDDEN_TOLD).length,
      ...(query !== undefined && { query }),
    };
  });
  const named = takeWithin(
    files,
    ({ path, query = '' }) => path.length + query.length,
    PATHS_SHOWN_CHARACTERS,
  );
  const behind = named.length < files.length ? sources[named.length - 1]?.path : next;
  const nextQuery = typeof behind === 'string' ? queryOfFiles(behind) : undefined;
  return {
    sources: {
      total,
      files: named,
      isFirst: after === null,
      isLast: typeof behind !== 'string',
      ...(nextQuery !== undefined && { next: nextQuery }),
    },
    ...(shown !== null && { shown: { ...showSource(shown), path: labelOf(shown.path) } }),
  };
}

function showSource({
  bytes,
  content,
}: NonNullable<SourcePage['shown']>): Omit<ShownSource, 'path'> {
  const begin = content.slice(0, Math.min(SOURCE_SHOWN_CHARACTERS, endOfLines(content)));
  const { left } = splitAtHiddenCharacters(begin, SOURCE_SHOWN_MARKS);
  const text = begin.slice(0, begin.length - left);
  // Every character is one byte at least, so that a shorter text is not all of it.
  const isWhole = text.length === content.length && new TextEncoder().encode(text).length === bytes;
  const hidden = findHiddenCharacters(content, HIDDEN_TOLD);
  return { bytes, text, isWhole, hidden };
}

function toCompilation({
  compilerSettings,
  name,
  fullyQualifiedName,
  ...rest
}: NonNullable<ChosenContract['compilation']>): ContractFacts['compilation'] {
  return {
    ...rest,
    name: cutPath(name),
    fullyQualifiedName: cutPath(fullyQualifiedName),
    settings: showJson(compilerSettings, JSON_SHOWN_CHARACTERS),
  };
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
