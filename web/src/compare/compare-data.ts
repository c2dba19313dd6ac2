import { pathPart } from '../../../client/src/path-part.ts';
import { canonicalJson } from '../../../src/lib/canonical-json.ts';
import { type SelectedContract, type Evidence, type SourcePage } from '../answers.ts';
import { type Api, type Loaded } from '../api.ts';
import { cutPath } from '../contract/shown-paths.ts';
import { isClaim } from '../contract/is-claim.ts';
import { type Match, matchOf } from '../contract/verdict.ts';
import { type PageRequest } from '../page.ts';
import { diffLines, type LineDiff } from './diff-lines.ts';

/** One of two compared contracts. */
export interface ComparedContract {
  readonly chainId: string;
  readonly address: string;
  readonly name: string;
  readonly match: Match | null;
  /** Whether another service claims the match. */
  readonly isClaimed: boolean;
}

/** Change of a file between the first and the second contract. */
export interface ComparedFile {
  readonly path: string;
  /** `unknown` if it was not read on one of the sides, because the file or the list is too large. */
  readonly state: 'same' | 'changed' | 'moved' | 'removed' | 'added' | 'unknown';
  /** For a moved file: its path in the second contract. */
  readonly to?: string;
  /** Link to it; absent if no URL can name it. */
  readonly query?: string;
}

/** A fact of the compilation in both. */
export interface ComparedFact {
  readonly name: string;
  readonly left: string;
  readonly right: string;
}

/** Comparison of two contracts. */
export interface Comparison {
  readonly left: ComparedContract;
  readonly right: ComparedContract;
  /** Facts that differ. */
  readonly facts: readonly ComparedFact[];
  readonly files: readonly ComparedFile[];
  /** Whether either has more files than are compared. */
  readonly hasMore: boolean;
  /** The selected file. */
  readonly shown?: { readonly path: string; readonly diff: LineDiff };
}

/** Data of the page; without a second contract nothing is compared. */
export interface CompareData {
  readonly with: string;
  readonly on: string;
  readonly comparison?: Loaded<Comparison>;
  /** The contract that could not be read. */
  readonly missing?: string;
}

const FILES_SHOWN = 400;
const PATH_LINKED_CHARACTERS = 800;
const FACT_CHARACTERS = 300;

interface Side {
  readonly chainId: string;
  readonly address: string;
}

/** Reads both contracts and compares their compilations, their lists of files, and one file line by line. */
export async function loadComparison(
  api: Api,
  { params, query }: PageRequest,
): Promise<CompareData> {
  const parameters = new URLSearchParams(query);
  const left = { chainId: params['chain'] ?? '', address: params['address'] ?? '' };
  const chosen = {
    with: parameters.get('with')?.trim() ?? '',
    on: parameters.get('on')?.trim() ?? '',
  };
  if (chosen.with === '') return chosen;
  const right = { chainId: chosen.on === '' ? left.chainId : chosen.on, address: chosen.with };
  const file = parameters.get('file') ?? undefined;
  const [one, other] = await Promise.all([readSide(api, left, file), readSide(api, right, file)]);
  const failed = [one, other].find((side) => side.state === 'failed');
  if (one.state === 'failed' || other.state === 'failed' || failed !== undefined) {
    const missing = one.state === 'failed' ? left : right;
    return {
      ...{ ...chosen, missing: `${missing.address} on chain ${missing.chainId}` },
      comparison: failed as Loaded<never>,
    };
  }
  const files = compareFiles(one.value.sources, other.value.sources);
  const path = file ?? files.find(({ state }) => state === 'changed')?.path;
  const comparison: Comparison = {
    left: one.value.contract,
    right: other.value.contract,
    facts: compareFacts(one.value.wire, other.value.wire),
    files: files.slice(0, FILES_SHOWN).map((each) => link(each, right)),
    hasMore:
      files.length > FILES_SHOWN || [one, other].some(({ value }) => value.sources.next !== null),
    ...(path !== undefined &&
      [one, other].some(({ value }) => isListed(value.sources, path)) && {
        shown: { path, diff: diffOf(path, one.value.sources, other.value.sources) },
      }),
  };
  return { ...chosen, comparison: { ...other, value: comparison } };
}

interface ReadSide {
  readonly contract: ComparedContract;
  readonly wire: SelectedContract;
  readonly sources: SourcePage;
}

async function readSide(
  api: Api,
  { chainId, address }: Side,
  file: string | undefined,
): Promise<Loaded<ReadSide>> {
  const place = `${pathPart(chainId)}/${pathPart(address)}`;
  const query = file === undefined ? '' : `?${new URLSearchParams({ path: file }).toString()}`;
  const [contract, sources, evidence] = await Promise.all([
    api.get<SelectedContract>(`v2/contract/${place}?fields=compilation`),
    api.get<SourcePage>(`v1/contracts/${place}/sources${query}`),
    api.get<Evidence>(`v1/contracts/${place}`),
  ]);
  if (contract.state === 'failed') return contract;
  if (sources.state === 'failed') return sources;
  if (evidence.state === 'failed') return evidence;
  const wire = contract.value;
  return {
    ...contract,
    value: {
      ...{ wire, sources: sources.value },
      contract: {
        ...{ chainId, address: wire.address, match: matchOf(wire.match) },
        ...{
          name: cutPath(wire.compilation?.name ?? ''),
          isClaimed: isClaim(evidence.value.origin),
        },
      },
    },
  };
}

function compareFiles(left: SourcePage, right: SourcePage): readonly ComparedFile[] {
  const [before, after] = [left, right].map(
    ({ sources }) => new Map(sources.map((source) => [source.path, source])),
  ) as [Map<string, SourcePage['sources'][number]>, Map<string, SourcePage['sources'][number]>];
  const added = [...after.values()].filter(({ path }) => !before.has(path));
  // The other side may have the file on a page that was not read.
  const stateAlone = (state: 'removed' | 'added', other: SourcePage): ComparedFile['state'] =>
    other.next === null ? state : 'unknown';
  const moved = new Map(
    added.flatMap(({ path, content }) => (content === null ? [] : [[content, path] as const])),
  );
  const files = [...before.values()].map(({ path, bytes, content }): ComparedFile => {
    const other = after.get(path);
    if (other === undefined) {
      const to = content === null ? undefined : moved.get(content);
      if (to !== undefined) return { path, state: 'moved', to };
      return { path, state: stateAlone('removed', right) };
    }
    if (bytes !== other.bytes) return { path, state: 'changed' };
    if (content === null || other.content === null) return { path, state: 'unknown' };
    return { path, state: content === other.content ? 'same' : 'changed' };
  });
  const reached = new Set(files.map(({ to }) => to));
  const rest = added
    .filter(({ path }) => !reached.has(path))
    .map(({ path }): ComparedFile => ({ path, state: stateAlone('added', left) }));
  const order: readonly ComparedFile['state'][] = [
    ...(['changed', 'added', 'removed', 'unknown', 'moved', 'same'] as const),
  ];
  return [...files, ...rest].sort(
    (one, two) => order.indexOf(one.state) - order.indexOf(two.state),
  );
}

function link(file: ComparedFile, { chainId, address }: Side): ComparedFile {
  const { path, to } = file;
  const isShown = ['changed', 'unknown'].includes(file.state);
  const shown = {
    ...{ ...file, path: cutPath(path) },
    ...(to !== undefined && { to: cutPath(to) }),
  };
  if (!isShown || path.length > PATH_LINKED_CHARACTERS) return shown;
  const query = new URLSearchParams({ with: address, on: chainId, file: path });
  return { ...shown, query: `?${query.toString()}#file` };
}

function isListed({ shown, sources }: SourcePage, path: string): boolean {
  return shown?.path === path || sources.some((source) => source.path === path);
}

/** Contents of a file in both, as far as they were read: up to a million characters of the selected file. */
function diffOf(path: string, left: SourcePage, right: SourcePage): LineDiff {
  const contentOf = (page: SourcePage): string | undefined => {
    const { shown, sources, next } = page;
    if (next === null && !isListed(page, path)) return '';
    if (shown?.path === path) return shown.content;
    return sources.find((source) => source.path === path)?.content ?? undefined;
  };
  const isCut = [left, right].some(
    ({ shown }) =>
      shown?.path === path && new TextEncoder().encode(shown.content).length < shown.bytes,
  );
  const [before, after] = [contentOf(left), contentOf(right)];
  if (isCut || before === undefined || after === undefined) return { state: 'too_large' };
  return diffLines(before, after);
}

/** Facts of the compilations that differ; settings by their top level. */
function compareFacts(left: SelectedContract, right: SelectedContract): readonly ComparedFact[] {
  const [before, after] = [left, right].map(({ compilation }) => {
    const {
      compiler = '',
      compilerVersion = '',
      language = '',
      fullyQualifiedName = '',
    } = compilation ?? {};
    const settings = Object.entries(compilation?.compilerSettings ?? {});
    return new Map<string, string>([
      ['Contract', fullyQualifiedName],
      ['Language', language],
      ['Compiler', `${compiler} ${compilerVersion}`],
      ...settings.map(([name, value]) => [name, canonicalJson(value)] as [string, string]),
    ]);
  }) as [Map<string, string>, Map<string, string>];
  const cut = (text = ''): string =>
    text.length > FACT_CHARACTERS ? `${text.slice(0, FACT_CHARACTERS)}…` : text;
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => ({
      ...{ name: cut(name), left: cut(before.get(name)), right: cut(after.get(name)) },
    }));
}
