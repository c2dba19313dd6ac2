import { type ListRecord } from '../chains/registry/list-record.ts';
import { type ChainChange, type ListDifference } from '../chains/list/compare-lists.ts';
import { type SourceOutcome } from '../chains/list/sync-list.ts';
import { printableText } from '../lib/printable-text.ts';
import { renderTable } from './table.ts';

/** Most rows of one kind in text; `--json` has all. */
const MAX_ROWS = 50;
const HASH_DIGITS = 12;
const SHOWN_ENDPOINTS = 3;

/** Renders the changes in a list: a line of counts, then a table of the changes, most serious first. */
function differenceText(difference: ListDifference): string {
  const { added, removed, renamed, identityChanged, rpcChanged, otherChanged } = difference;
  const counts = [
    `${identityChanged.length} with another identity`,
    `${removed.length} removed`,
    `${renamed.length} renamed`,
    `${added.length} added`,
    `${rpcChanged.length} with other endpoints`,
    `${otherChanged.length} changed elsewhere`,
  ];
  const rows = [
    ...limit('identity', identityChanged, ({ chainId, before, after }) => [
      [String(chainId), nameOf(before), nameOf(after)],
    ]),
    ...limit('removed', removed, (record) => [[String(record.chainId), nameOf(record), '-']]),
    ...limit('renamed', renamed, ({ chainId, before, after }) => [
      [String(chainId), nameOf(before), nameOf(after)],
    ]),
    ...limit('added', added, (record) => [[String(record.chainId), '-', nameOf(record)]]),
    ...limit('endpoints', rpcChanged, ({ chainId, added: news, removed: olds }) => {
      const lines = Math.max(1, olds.length, news.length);
      const moved = news.length + olds.length === 0 ? 'in another order' : '-';
      return Array.from({ length: lines }, (_line, index) => [
        index === 0 ? String(chainId) : '',
        olds[index] ?? (index === 0 ? '-' : ''),
        news[index] ?? (index === 0 ? moved : ''),
      ]);
    }),
    ...limit('fields', otherChanged, ({ chainId, fields }) => [
      [String(chainId), '', fields.map(({ field }) => field).join(', ')],
    ]),
  ];
  const table = rows.length === 0 ? '' : renderTable(['change', 'chain', 'before', 'after'], rows);
  return `${counts.join(', ')}\n${table}`;
}

function limit<Item>(
  kind: string,
  items: readonly Item[],
  rowsOf: (item: Item) => readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const rows = items
    .slice(0, MAX_ROWS)
    .flatMap((item) => rowsOf(item).map((row, index) => [index === 0 ? kind : '', ...row]));
  const more = items.length - MAX_ROWS;
  return more > 0 ? [...rows, [kind, `and ${more} more`]] : rows;
}

function nameOf({ name, shortName }: ListRecord): string {
  return shortName === undefined ? name : `${name} (${shortName})`;
}

const briefly = ({ chainId, name, shortName }: ListRecord) => ({ chainId, name, shortName });

const changes = ({ chainId, before, after }: ChainChange) => ({
  chainId,
  before: briefly(before),
  after: briefly(after),
});

/** Describes the changes in a list for JSON output. */
function differenceJson(difference: ListDifference): unknown {
  return {
    added: difference.added.map(briefly),
    removed: difference.removed.map(briefly),
    renamed: difference.renamed.map(changes),
    identityChanged: difference.identityChanged.map(changes),
    rpcChanged: difference.rpcChanged,
    otherChanged: difference.otherChanged.map(({ chainId, fields }) => ({ chainId, fields })),
  };
}

/** Renders the outcome of a sync, source by source. */
export function outcomesText(outcomes: readonly SourceOutcome[], dryRun: boolean): string {
  return outcomes.map((outcome) => outcomeText(outcome, dryRun)).join('');
}

function outcomeText(outcome: SourceOutcome, dryRun: boolean): string {
  const source = printableText(outcome.source);
  if (outcome.status === 'failed') return `${source}: failed\n  ${outcome.error.message}\n`;
  if (outcome.status === 'unchanged') {
    const head = `${source}: unchanged, ${outcome.sha256.slice(0, HASH_DIGITS)}\n`;
    return head + heldText(outcome.heldBack, outcome.sha256);
  }
  const { list, difference, refusals } = outcome;
  const verdict =
    outcome.status === 'refused' ? 'refused' : dryRun ? 'would be accepted' : 'accepted';
  const head = `${source}: ${verdict}, ${list.sha256.slice(0, HASH_DIGITS)}, ${list.records.length} chains\n`;
  const reasons = refusals.map(({ message }) => `  ${message}\n`);
  const leftOut = list.quarantined.map(({ message }) => `  ${printableText(message)}\n`);
  const held = outcome.status === 'refused' ? '' : heldText(outcome.heldBack, list.sha256);
  return [head, ...reasons, held, ...leftOut.slice(0, MAX_ROWS), differenceText(difference)].join(
    '',
  );
}

/** Renders the withheld changes, and how to accept them. */
function heldText(heldBack: readonly ChainChange[], sha256: string): string {
  if (heldBack.length === 0) return '';
  const lines = heldBack.slice(0, MAX_ROWS).map(({ chainId, before, after }) => {
    const rpc = after.rpc.slice(0, SHOWN_ENDPOINTS).map((url) => printableText(url));
    return `  Chain ${chainId} is in use and stays '${printableText(nameOf(before))}'. The list calls it '${printableText(nameOf(after))}', with other endpoints: ${rpc.join(', ') || 'none'}${after.rpc.length > SHOWN_ENDPOINTS ? ', …' : ''}\n`;
  });
  const more = heldBack.length - MAX_ROWS;
  if (more > 0) lines.push(`  and ${more} more\n`);
  return `${lines.join('')}  If that is right, accept the whole list: fullmatch chains sync --accept ${sha256}\n`;
}

/** Describes the outcome of a sync for JSON output. */
export function outcomesJson(outcomes: readonly SourceOutcome[]): unknown {
  return outcomes.map((outcome) => {
    const { source, status } = outcome;
    if (outcome.status === 'unchanged') {
      const { sha256, heldBack } = outcome;
      return { source, status, sha256, heldBack: heldBack.map(changes) };
    }
    if (outcome.status === 'failed') {
      return { source, status, error: { code: outcome.error.code, detail: outcome.error.message } };
    }
    const { list, difference, refusals } = outcome;
    return {
      source,
      status,
      sha256: list.sha256,
      chains: list.records.length,
      refusals,
      heldBack: outcome.heldBack.map(changes),
      quarantined: list.quarantined,
      difference: differenceJson(difference),
    };
  });
}
