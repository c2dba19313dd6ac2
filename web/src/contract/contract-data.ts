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
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly abi: unknown;
  readonly metadata: unknown;
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
  readonly characters: number;
  readonly hidden: number;
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
  readonly sources: readonly SourceFile[];
  readonly shown?: ShownText & {
    readonly path: string;
    readonly hidden: readonly HiddenCharacter[];
  };
  /** What else holds characters that nobody sees, in words. */
  readonly hiddenIn: readonly string[];
  readonly signatures: readonly AbiSignature[];
  readonly abi?: ShownText;
  readonly metadata?: ShownText;
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
  readonly evidence: Loaded<Evidence>;
  /** Newest first. */
  readonly events: Loaded<{ readonly results: readonly ContractEvent[] }>;
  readonly chain: Loaded<{ readonly name: string; readonly supported: boolean }>;
  readonly sameCode: Loaded<{
    readonly results: readonly ListedContract[];
    readonly more: boolean;
  }>;
}

const FIELDS = 'compilation,deployment,sources,abi,metadata';
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
  const [contract, evidence, events, chain, sameCode] = await Promise.all([
    api.get<WireContract>(`v2/contract/${chainId}/${address}?fields=${FIELDS}`),
    api.get<Evidence>(`v1/contracts/${chainId}/${address}`),
    api.get<{ results: ContractEvent[] }>(`v1/contracts/${chainId}/${address}/events`),
    api.get<{ record: { name: string; supported: boolean } }>(`v1/chains/${chainId}`),
    api.get<{ results: ListedContract[]; next?: unknown }>(
      `v1/contracts/${chainId}/${address}/same-code`,
    ),
  ]);
  const source = new URLSearchParams(query).get('source');
  return {
    contract: mapLoaded(contract, (wire) => toFacts(wire, source)),
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

function toFacts(wire: WireContract, chosen: string | null): ContractFacts {
  const { compilation, sources } = wire;
  const paths = Object.keys(sources);
  const target = compilation?.fullyQualifiedName.slice(0, -(compilation.name.length + 1));
  const path = [chosen, target, paths[0]].find(
    (each) => typeof each === 'string' && Object.hasOwn(sources, each),
  );
  const content = sources[path ?? '']?.content ?? '';
  const signatures = describeAbi(wire.abi);
  const texts = {
    'the name of the contract': compilation?.fullyQualifiedName ?? '',
    'paths of sources': paths.join(),
    'the ABI': signatures.map(({ text }) => text).join(),
  };
  return {
    address: wire.address,
    match: matchOf(wire.match),
    runtimeMatch: matchOf(wire.runtimeMatch),
    creationMatch: matchOf(wire.creationMatch),
    ...(wire.verifiedAt !== undefined && { verifiedAt: wire.verifiedAt }),
    compilation: compilation && toCompilation(compilation),
    deployment: wire.deployment,
    sources: paths.map((each) => describeSource(each, sources[each]?.content ?? '')),
    ...(typeof path === 'string' && {
      shown: {
        path,
        ...shorten(content, Math.min(SOURCE_SHOWN_CHARACTERS, endOfLines(content))),
        hidden: findHiddenCharacters(content, HIDDEN_TOLD),
      },
    }),
    hiddenIn: Object.entries(texts).flatMap(([name, text]) =>
      findHiddenCharacters(text, 1).length > 0 ? [name] : [],
    ),
    signatures: signatures.slice(0, SIGNATURES_SHOWN),
    ...(wire.abi !== null && { abi: showJson(wire.abi) }),
    ...(wire.metadata !== null && { metadata: showJson(wire.metadata) }),
  };
}

function toCompilation({
  compilerSettings,
  ...rest
}: NonNullable<WireContract['compilation']>): ContractFacts['compilation'] {
  return { ...rest, settings: showJson(compilerSettings) };
}

function describeSource(path: string, content: string): SourceFile {
  return {
    path,
    characters: content.length,
    hidden: findHiddenCharacters(content, HIDDEN_TOLD).length,
  };
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
