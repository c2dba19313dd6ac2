import { FullmatchError } from '../../errors.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type Database } from '../../store/database.ts';
import { parseChainList, type ChainList } from './chain-list.ts';
import { compareLists, type ChainChange, type ListDifference } from './compare-lists.ts';
import { findHeldChanges, holdRecords } from './hold-records.ts';
import { judgeList, type ListRequirements, type Refusal } from './judge-list.ts';
import { readSource, type SourceResponse } from './list-source.ts';
import { displaySource } from './source-name.ts';
import {
  acceptSnapshot,
  readCurrentSnapshot,
  readListText,
  readRecentSizes,
  readSnapshotList,
  type StoredSnapshot,
} from './snapshots.ts';
import { readSourceState, storeSourceState } from './sync-state.ts';

/** Dependencies of a sync. */
export interface SyncDependencies {
  readonly database: Database;
  readonly fetch: GuardedFetch;
  /** The list that is served while the sources have no snapshot: the embedded or the operator's own. */
  readonly fallback: ChainList;
  /** What a newer list must currently preserve. */
  readonly readRequirements: () => Promise<Omit<ListRequirements, 'recentSizes'>>;
  /** @throws FullmatchError if the list could not be published, such as `secret_in_document` */
  readonly assertPublishable: (list: ChainList) => Promise<void>;
}

/** Options of one sync. */
export interface SyncRequest {
  /** In order; the first whose list is accepted ends the sync. */
  readonly sources: readonly string[];
  /** Fetches and judges without storing. */
  readonly dryRun?: boolean;
  /**
   * SHA-256 of a list that the operator has examined. It is accepted as a whole, although it was refused or
   * some of its records are held back. The full hash is required: the server of the first list could craft a
   * second one with the same first bytes.
   */
  readonly accept?: string;
  /** Maximum size of a list, before and after decompression (8 MB). */
  readonly maxBytes?: number;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** Outcome for one source. */
export type SourceOutcome = { readonly source: string } & (
  | ({ readonly status: 'unchanged'; readonly sha256: string } & HeldBack)
  | ({ readonly status: 'accepted' } & JudgedList)
  | ({ readonly status: 'refused'; readonly error: FullmatchError } & JudgedList)
  | { readonly status: 'failed'; readonly error: FullmatchError }
);

interface HeldBack {
  /** Chains whose changes are held back: their current records stay in effect. */
  readonly heldBack: readonly ChainChange[];
}

/** A list that could be read, its changes, and the reasons against it. */
interface JudgedList extends HeldBack {
  /** As it would be served. */
  readonly list: ChainList;
  readonly difference: ListDifference;
  readonly refusals: readonly Refusal[];
}

/** Outcome of a sync for each source that was tried. The last one decides. */
export interface SyncOutcome {
  readonly outcomes: readonly SourceOutcome[];
  /** Why no source provided an acceptable list; absent if one did. */
  readonly failure?: FullmatchError;
}

/** The public list of 2026 has 1.1 MB on one line, 3 MB with white space. */
const MAX_LIST_BYTES = 8_000_000;
/** How often a list is judged again because another process accepted one meanwhile. */
const MAX_JUDGEMENTS = 3;

/** Text of a list, and its HTTP validators. */
interface FetchedList {
  readonly text: string;
  readonly validators: Extract<SourceResponse, { kind: 'text' }>['validators'];
}

/**
 * Tries the sources in order until one provides a list that may replace the current one, or confirms it, and
 * stores it as the newest snapshot. A list that is refused or cannot be read changes nothing.
 * @throws FullmatchError of the store; the reason of the signal
 */
export async function syncList(
  parts: SyncDependencies,
  request: SyncRequest,
): Promise<SyncOutcome> {
  const outcomes: SourceOutcome[] = [];
  for (const source of request.sources) {
    const outcome = await syncSource(source, parts, request);
    outcomes.push(outcome);
    if (outcome.status === 'accepted' || outcome.status === 'unchanged') return { outcomes };
  }
  return { outcomes, failure: joinFailures(outcomes) };
}

async function syncSource(
  source: string,
  parts: SyncDependencies,
  request: SyncRequest,
): Promise<SourceOutcome> {
  const { signal, deadlineMs, maxBytes = MAX_LIST_BYTES } = request;
  const limits = { maxBytes, deadlineMs, ...(signal && { signal }) };
  const known = await readSourceState(parts.database, source);
  try {
    const answer = await readSource(source, known, parts.fetch, limits);
    const given = answer.kind === 'text' ? answer : await readKnown(parts.database, known);
    return await takeText(source, given, parts, request);
  } catch (error) {
    signal?.throwIfAborted();
    // A store error is not the fault of the source.
    if (!(error instanceof FullmatchError) || STORE_CODES.has(error.code)) throw error;
    return { source, status: 'failed', error: nameSource(source, error) };
  }
}

/** A network error names the host it occurred at, which differs after a redirect. */
function nameSource(source: string, error: FullmatchError): FullmatchError {
  const shown = displaySource(source);
  if (error.message.includes(shown)) return error;
  const said = (name: string, text: string): string => `The chain list ${name} is refused. ${text}`;
  return new FullmatchError(error.code, said(shown, error.message), {
    cause: error,
    details: { ...error.details, source: shown },
    forOperator: said(source, error.forOperator),
  });
}

const STORE_CODES: ReadonlySet<string> = new Set([
  'database_unreachable',
  'database_error',
  'database_unavailable',
  'database_damaged',
  'data_directory_full',
]);

async function readKnown(
  database: Database,
  known: { readonly sha256: string; readonly etag?: string; readonly lastModified?: string } = {
    sha256: '',
  },
): Promise<FetchedList> {
  const { sha256, ...validators } = known;
  const text = await readListText(database, sha256);
  if (text !== undefined) return { text, validators };
  throw new FullmatchError(
    'chain_list_unavailable',
    'The source says that its list has not changed, but that list is no longer stored.',
  );
}

async function takeText(
  source: string,
  { text, validators }: FetchedList,
  parts: SyncDependencies,
  request: SyncRequest,
): Promise<SourceOutcome> {
  const list = parseChainList(text, source);
  const remember = async (): Promise<void> => {
    if (request.dryRun === true) return;
    await storeSourceState(parts.database, source, { sha256: list.sha256, ...validators });
  };
  for (let judgement = 1; judgement <= MAX_JUDGEMENTS; judgement += 1) {
    const current = await readCurrentSnapshot(parts.database, request.sources);
    const isCurrent = current?.sha256 === list.sha256;
    if (isCurrent && current.heldBack.length === 0) {
      await remember();
      return { source, status: 'unchanged', sha256: list.sha256, heldBack: [] };
    }
    const isAccepted = request.accept !== undefined && list.sha256 === request.accept;
    const judged = await judge(list, current, parts, request.sources, isAccepted);
    const { heldBack } = judged;
    // A held change may be released without a new list, for example when its chain is no longer configured.
    if (isCurrent && heldBack.length === current.heldBack.length) {
      await remember();
      return { source, status: 'unchanged', sha256: list.sha256, heldBack };
    }
    if (judged.refusals.length > 0 && !isAccepted) {
      return { source, status: 'refused', error: refusalOf(source, judged), ...judged };
    }
    await parts.assertPublishable(judged.list);
    if (request.dryRun === true) return { source, status: 'accepted', ...judged };
    const { sources } = request;
    const inForce = heldBack.map(({ before }) => before);
    const accepting = { text, list, inForce, sources, judgedAgainst: current };
    if ((await acceptSnapshot(parts.database, accepting)) === undefined) continue;
    await remember();
    return { source, status: 'accepted', ...judged };
  }
  throw new FullmatchError(
    'chain_list_unavailable',
    `The chain list ${displaySource(source)} was replaced by other processes ${MAX_JUDGEMENTS} times.`,
  );
}

async function judge(
  list: ChainList,
  current: StoredSnapshot | undefined,
  { database, fallback, readRequirements }: SyncDependencies,
  sources: readonly string[],
  isAccepted: boolean,
): Promise<JudgedList> {
  const served = current === undefined ? fallback : await readSnapshotList(database, current);
  const difference = compareLists(served.records, list.records);
  const requirements = {
    ...(await readRequirements()),
    recentSizes: await readRecentSizes(database, sources),
  };
  const refusals = judgeList(served, difference, requirements);
  const heldBack = isAccepted ? [] : findHeldChanges(difference, requirements);
  if (heldBack.length === 0) return { list, difference, refusals, heldBack };
  const inForce = heldBack.map(({ before }) => before);
  const kept = holdRecords(list, inForce);
  return { list: kept, difference: compareLists(served.records, kept.records), refusals, heldBack };
}

function refusalOf(source: string, { list, refusals }: JudgedList): FullmatchError {
  const reasons = refusals.map(({ message }) => message).join('. ');
  return new FullmatchError(
    'chain_list_refused',
    `The chain list ${displaySource(source)} (${list.sha256.slice(0, 12)}) is refused. ${reasons}.`,
    {
      details: {
        source: displaySource(source),
        sha256: list.sha256,
        refusals: refusals.map(({ code, chainIds }) => ({ code, chainIds })),
      },
    },
  );
}

/** The first source is the preferred one, so its code represents all of them. */
function joinFailures(outcomes: readonly SourceOutcome[]): FullmatchError {
  const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
  const first = errors[0];
  if (first !== undefined && errors.length === 1) return first;
  return new FullmatchError(
    first?.code ?? 'chain_list_unavailable',
    errors.map(({ message }) => message).join(' ') || 'No source of the public list is configured.',
    {
      cause: first,
      details: { ...first?.details },
      ...(first && { forOperator: errors.map(({ forOperator }) => forOperator).join(' ') }),
    },
  );
}
