import { pathPart } from '../../../client/src/path-part.ts';
import {
  type ChainDetails,
  type SelectedContract,
  type ContractEvents,
  type ContractItem,
  type ContractPage,
  type Deployment,
  type Evidence,
  type SourcePage,
  type WithdrawnMatch,
} from '../answers.ts';
import { type V2Contract } from '../../../client/src/schemas.ts';
import { type Api, type Loaded } from '../api.ts';
import { type PageRequest } from '../page.ts';
import { type AbiSignature, describeAbi } from './abi-signatures.ts';
import { type ChainValues, valuesOf } from './chain-values.ts';
import { chipsOf, compilerChips } from './chips.tsx';
import { type CodeProof, proofOf } from './code-proof.ts';
import {
  findHiddenCharacters,
  type HiddenCharacter,
  splitAtHiddenCharacters,
} from './hidden-characters.ts';
import { showJson, type ShownText } from './shown-json.ts';
import { cutPath, cutPaths, queryOfFiles, queryOfSource, takeWithin } from './shown-paths.ts';
import { type FoundLines, findLines, type SearchedPage } from './find-lines.ts';
import { type Tab, tabOf } from './tabs.tsx';
import { isClaim } from './is-claim.ts';
import { type Match, matchOf } from './verdict.ts';
import { withdrawalOf } from './withdrawal.ts';

/** A source, without its content. */
export interface SourceFile {
  /** A long path shows only its ends, see {@link cutPath}. */
  readonly path: string;
  readonly hidden: number;
  /** Link to it; absent if no URL can name it. */
  readonly query?: string;
}

/** The files of a contract that one page lists. */
export interface SourceFiles {
  /** Number of all files of the contract, including those of other pages. */
  readonly total: number;
  readonly files: readonly SourceFile[];
  /** Whether there are files before and after these. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Link to the next ones; absent if no URL can name them. */
  readonly next?: string;
}

/** The sources as a page shows them. */
export interface ShownSources {
  /** Absent if they could not be read. */
  readonly sources?: SourceFiles;
  readonly shown?: ShownSource;
  /** Result of a search in the files. */
  readonly found?: FoundLines;
}

/** A match that was withdrawn: it proves nothing, but its sources can be read. */
export interface WithdrawnFacts extends ShownSources {
  readonly address: string;
  /** Absent if its evidence is unknown. */
  readonly name?: string;
  readonly chips: readonly string[];
  readonly match: Match;
  readonly isClaim: boolean;
  readonly withdrawnAt: string;
  readonly reason: string;
  /** Parts with invisible characters, as text. */
  readonly hiddenIn: readonly string[];
}

/** Data of a verified contract's page. */
export interface ContractFacts extends ShownSources {
  readonly address: string;
  readonly match: Match | null;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly verifiedAt?: string;
  readonly compilation:
    | (Omit<NonNullable<SelectedContract['compilation']>, 'compilerSettings'> & {
        readonly settings: ShownText;
      })
    | null;
  readonly deployment: Deployment;
  /** Its language and compiler, and the settings that affect bytecode, in a few words each. */
  readonly chips: readonly string[];
  /** Other parts with invisible characters, as text. */
  readonly hiddenIn: readonly string[];
  readonly signatures: readonly AbiSignature[];
  readonly proof?: { readonly runtime?: CodeProof; readonly creation?: CodeProof };
  readonly values?: ChainValues;
  readonly abi?: ShownText;
  readonly metadata?: ShownText;
}

/** The shown source: only its beginning unless `isWhole`. */
export interface ShownSource {
  readonly path: string;
  /** Whether the path is complete, so that it identifies the file. */
  readonly isNamed: boolean;
  readonly text: string;
  readonly bytes: number;
  readonly isWhole: boolean;
  readonly hidden: readonly HiddenCharacter[];
}

/** The chain as the contract's page shows it. */
export interface ChainFacts {
  readonly name: string;
  readonly supported: boolean;
  readonly hasIcon: boolean;
  /** The contract's page in an explorer of the chain. */
  readonly explorer?: string;
}

/** Data of a contract page. */
export interface ContractData {
  /** The active tab; data that only other tabs show is absent. */
  readonly tab: Tab;
  readonly contract: Loaded<ContractFacts>;
  /** Why the sources could not be read. */
  readonly sources?: Loaded<null>;
  readonly evidence: Loaded<Evidence>;
  /** Newest first. */
  readonly events?: Loaded<ContractEvents>;
  readonly chain: Loaded<ChainFacts>;
  /** The withdrawn match; absent if the contract has a match, or never had one. */
  readonly withdrawn?: Loaded<WithdrawnFacts>;
  readonly sameCode?: Loaded<{
    readonly results: readonly ContractItem[];
    readonly more: boolean;
  }>;
}

/** Implementations of a proxy, as the API returns them. */
export type Proxy = NonNullable<V2Contract['proxyResolution']>;

/**
 * Makes the service read a contract's implementations from the chain. Only browsers call it, since rendering
 * never waits for a chain.
 */
export async function readProxy(
  api: Api,
  { chainId, address }: { readonly chainId: string; readonly address: string },
): Promise<Proxy | undefined> {
  const path = `v2/contract/${chainId}/${address}?fields=proxyResolution`;
  const read = await api.get<Pick<V2Contract, 'proxyResolution'>>(path);
  return read.state === 'ready' ? read.value.proxyResolution : undefined;
}

const COMPARED = ['onchainBytecode', 'transformations', 'transformationValues'];
const comparedOf = (code: string): string => COMPARED.map((name) => `${code}.${name}`).join();
const FIELDS = 'compilation,deployment';
/** Additional fields that each tab reads. */
const FIELDS_OF: Readonly<Record<Tab, string>> = {
  // A warning about invisible characters covers the ABI too.
  code: ',abi',
  abi: ',abi,signatures,values',
  proof: `,values,${comparedOf('runtimeBytecode')},${comparedOf('creationBytecode')}`,
  downloads: '',
  history: '',
};
/** Larger metadata, of contracts with very many files, is only offered as a download. */
const METADATA_READ_BYTES = 1_000_000;
const SOURCE_SHOWN_CHARACTERS = 300_000;
const SOURCE_SHOWN_LINES = 10_000;
/** Maximum runs of invisible characters: each is an element. */
const SOURCE_SHOWN_MARKS = 2_000;
/** Maximum total length of the paths of a page and the links to them. */
const PATHS_SHOWN_CHARACTERS = 200_000;
const JSON_SHOWN_CHARACTERS = 60_000;
const SIGNATURES_SHOWN = 400;
/** Invisible characters of one file beyond this number are not counted. */
const HIDDEN_TOLD = 100;

/** Reads the data of a tab of a contract page. */
export async function loadContract(
  api: Api,
  { params, query }: PageRequest,
): Promise<ContractData> {
  const [chainId = '', address = ''] = [params['chain'], params['address']].map((part) =>
    pathPart(part ?? ''),
  );
  const parameters = new URLSearchParams(query);
  const tab = tabOf(query);
  const [source, after] = [parameters.get('source'), parameters.get('files')];
  const chosen = new URLSearchParams({
    ...(source !== null && { path: source }),
    ...(after !== null && { after }),
  });
  const place = `${chainId}/${address}`;
  const only = <Answer>(on: Tab, path: string): Promise<Loaded<Answer> | undefined> =>
    tab === on ? api.get<Answer>(path) : Promise.resolve(undefined);
  const [contract, evidence, chain, sources, metadata, sameCode, history] = await Promise.all([
    api.get<SelectedContract>(`v2/contract/${place}?fields=${FIELDS}${FIELDS_OF[tab]}`),
    api.get<Evidence>(`v1/contracts/${place}`),
    api.get<ChainDetails>(`v1/chains/${chainId}`),
    only<SourcePage>('code', `v1/contracts/${place}/sources?${chosen.toString()}`),
    only<SourcePage>('proof', `v1/contracts/${place}/sources`),
    only<ContractPage>('history', `v1/contracts/${place}/same-code`),
    only<ContractEvents>('history', `v1/contracts/${place}/events`),
  ]);
  // Without a match the history is shown at once.
  const isGone = contract.state === 'failed' && contract.status === 404;
  const events = isGone ? await api.get<ContractEvents>(`v1/contracts/${place}/events`) : history;
  const withdrawn =
    withdrawalOf(events) &&
    (await api.get<WithdrawnMatch>(`v1/contracts/${place}/withdrawn?${chosen.toString()}`));
  const shown = await readMetadata(api, place, metadata);
  const read = sources?.state === 'ready' ? sources.value : undefined;
  const find = parameters.get('find')?.trim() ?? '';
  const further = find === '' ? [] : await readFurther(api, place, read);
  return {
    tab,
    contract: mapLoaded(contract, (wire) => {
      const facts = toFacts(wire);
      return {
        ...facts,
        ...(read !== undefined && describeSources(read, { find, after, further })),
        hiddenIn: describeHidden(wire.compilation?.fullyQualifiedName, read, facts.signatures),
        ...(shown !== undefined && { metadata: shown }),
      };
    }),
    ...(sources !== undefined && { sources: mapLoaded(sources, () => null) }),
    evidence,
    ...(events !== undefined && { events }),
    chain: mapLoaded(chain, (details) => describeChain(details, address)),
    ...(withdrawn !== undefined && {
      withdrawn: mapLoaded(withdrawn, (wire) => toWithdrawn(wire, { find, after, further: [] })),
    }),
    ...(sameCode !== undefined && {
      sameCode: mapLoaded(sameCode, ({ results, next }) => ({ results, more: next !== null })),
    }),
  };
}

/** Pages of files to search after the one that is shown; each has up to 200 files. */
const FURTHER_PAGES = 4;

/** Reads the next pages of files for a search. */
async function readFurther(
  api: Api,
  place: string,
  first: SourcePage | undefined,
): Promise<readonly SearchedPage[]> {
  const pages: SearchedPage[] = [];
  for (let after = first?.next ?? null; after !== null && pages.length < FURTHER_PAGES;) {
    const query = new URLSearchParams({ after }).toString();
    const page = await api.get<SourcePage>(`v1/contracts/${place}/sources?${query}`);
    if (page.state === 'failed') break;
    pages.push({ sources: page.value.sources, after });
    after = page.value.next;
  }
  return pages;
}

/** The metadata, if the page shows it and it is small enough. */
async function readMetadata(
  api: Api,
  place: string,
  sources: Loaded<SourcePage> | undefined,
): Promise<ShownText | undefined> {
  const { metadataBytes = 0 } = sources?.state === 'ready' ? sources.value : {};
  if (metadataBytes === 0 || metadataBytes > METADATA_READ_BYTES) return undefined;
  const read = await api.get<{ metadata: unknown }>(`v2/contract/${place}?fields=metadata`);
  if (read.state === 'failed' || read.value.metadata === null) return undefined;
  return showJson(read.value.metadata, JSON_SHOWN_CHARACTERS);
}

function describeChain(
  { record: { name, supported, explorers = [] }, hasIcon }: ChainDetails,
  address: string,
): ChainFacts {
  const url = explorers.find((each) => /^https?:\/\//.test(each.url))?.url;
  const explorer =
    url === undefined ? {} : { explorer: `${url.replace(/\/$/, '')}/address/${address}` };
  return { name, supported, hasIcon, ...explorer };
}

function mapLoaded<From, To>(loaded: Loaded<From>, change: (value: From) => To): Loaded<To> {
  return loaded.state === 'failed' ? loaded : { ...loaded, value: change(loaded.value) };
}

function toFacts(wire: SelectedContract): Omit<ContractFacts, 'hiddenIn'> {
  const { compilation } = wire;
  return {
    address: wire.address,
    match: matchOf(wire.match),
    runtimeMatch: matchOf(wire.runtimeMatch ?? null),
    creationMatch: matchOf(wire.creationMatch ?? null),
    ...(wire.verifiedAt !== undefined && { verifiedAt: wire.verifiedAt }),
    compilation: compilation && toCompilation(compilation),
    chips: compilation === null ? [] : chipsOf(compilation),
    deployment: wire.deployment,
    signatures: describeAbi(wire.abi, SIGNATURES_SHOWN, wire.signatures),
    ...(wire.abi && { abi: showJson(wire.abi, JSON_SHOWN_CHARACTERS) }),
    ...describeProof(wire),
  };
}

function toWithdrawn(
  { compilation, sources, ...wire }: WithdrawnMatch,
  selection: SourceQuestion,
): WithdrawnFacts {
  return {
    ...{ address: wire.address, match: wire.match, isClaim: isClaim(wire.origin) },
    ...{ withdrawnAt: wire.withdrawnAt, reason: wire.reason },
    ...(compilation !== null && { name: cutPath(compilation.name) }),
    chips: compilation === null ? [] : compilerChips(compilation),
    hiddenIn: describeHidden(compilation?.fullyQualifiedName, sources ?? undefined),
    ...(sources !== null && describeSources(sources, selection)),
  };
}

function describeProof({
  runtimeBytecode,
  creationBytecode,
  values: wire,
}: SelectedContract): Pick<ContractFacts, 'proof' | 'values'> {
  const values = valuesOf(wire);
  if (runtimeBytecode === undefined) return values === undefined ? {} : { values };
  const names = new Map(
    (wire?.immutables ?? []).flatMap(({ id, name }) => (name === null ? [] : [[id, name]])),
  );
  const [runtime, creation] = [proofOf(runtimeBytecode, names), proofOf(creationBytecode, names)];
  return {
    proof: { ...(runtime && { runtime }), ...(creation && { creation }) },
    ...(values && { values }),
  };
}

/** Parts other than source contents that have invisible characters. */
function describeHidden(
  name: string | undefined,
  sources: SourcePage | undefined,
  signatures: readonly AbiSignature[] = [],
): string[] {
  const texts = {
    'the name of the contract': name ?? '',
    'paths of sources': (sources?.sources ?? []).map(({ path }) => path).join(),
    'the ABI': signatures.map(({ text }) => text).join(),
  };
  return Object.entries(texts).flatMap(([part, text]) =>
    findHiddenCharacters(text, 1).length > 0 ? [part] : [],
  );
}

/** The page of files, and the text to search in it; empty if there is none. */
interface SourceQuestion {
  readonly find: string;
  readonly after: string | null;
  /** Pages to search in addition. */
  readonly further: readonly SearchedPage[];
}

function describeSources(
  { total, sources, next, shown }: SourcePage,
  { find, after, further }: SourceQuestion,
): ShownSources {
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
    ...(shown !== null && {
      shown: {
        ...showSource(shown),
        path: labelOf(shown.path),
        isNamed: labelOf(shown.path) === shown.path,
      },
    }),
    ...(find !== '' && { found: findLines([{ sources, after }, ...further], find, total) }),
  };
}

function showSource({
  bytes,
  content,
}: NonNullable<SourcePage['shown']>): Omit<ShownSource, 'path' | 'isNamed'> {
  const begin = content.slice(0, Math.min(SOURCE_SHOWN_CHARACTERS, endOfLines(content)));
  const { left } = splitAtHiddenCharacters(begin, SOURCE_SHOWN_MARKS);
  const text = begin.slice(0, begin.length - left);
  // Every character has at least one byte, so a shorter text is incomplete.
  const isWhole = text.length === content.length && new TextEncoder().encode(text).length === bytes;
  const hidden = findHiddenCharacters(content, HIDDEN_TOLD);
  return { bytes, text, isWhole, hidden };
}

function toCompilation({
  compilerSettings,
  name,
  fullyQualifiedName,
  ...rest
}: NonNullable<SelectedContract['compilation']>): ContractFacts['compilation'] {
  return {
    ...rest,
    name: cutPath(name),
    fullyQualifiedName: cutPath(fullyQualifiedName),
    settings: showJson(compilerSettings, JSON_SHOWN_CHARACTERS),
  };
}

/** End of the last line that may be shown. */
function endOfLines(text: string): number {
  let end = -1;
  for (let line = 0; line < SOURCE_SHOWN_LINES; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) return text.length;
  }
  return end;
}
