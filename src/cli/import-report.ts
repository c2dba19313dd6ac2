import { type ImportProgress } from '../importer/import-progress.ts';
import { type ImportSummary } from '../importer/import-tally.ts';
import { type RefusedEntry } from '../importer/refusal.ts';
import { renderTable } from './table.ts';

const BAR_WIDTH = 24;
const SHOWN_REFUSALS = 20;

/** Formats a count with separators of thousands. */
export const formatCount = (count: number): string => Math.round(count).toLocaleString('en-US');

/** Formats a duration for people: `42 s`, `3 min 5 s`, `2 h 10 min`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/**
 * Renders progress as one line: progress, speed and remaining time; on a terminal also as a bar.
 */
export function renderProgress(progress: ImportProgress, isTerminal = false): string {
  const { done, total, entriesPerSecond, secondsLeft, refused } = progress;
  const fraction = total === undefined || total === 0 ? undefined : Math.min(1, done / total);
  const parts = [
    total === undefined
      ? `${formatCount(done)} entries`
      : `${formatCount(done)} of ${formatCount(total)} entries`,
    ...(fraction === undefined ? [] : [`${Math.floor(fraction * 100)}%`]),
    `${formatCount(entriesPerSecond)}/s`,
    ...(secondsLeft === undefined ? [] : [`${formatSeconds(secondsLeft)} left`]),
    ...(refused === 0 ? [] : [`${formatCount(refused)} refused`]),
  ];
  const line = parts.join(', ');
  if (!isTerminal) return line;
  const filled = Math.round((fraction ?? 0) * BAR_WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${line}`;
}

/**
 * Renders the summary for people: a table of the chains, the totals, and the first refused entries with their
 * reasons.
 */
export function renderSummary(summary: ImportSummary): string {
  const { chains, totals, durationMs, entriesPerSecond, dryRun, foreignFiles } = summary;
  const heads = ['chain', 'stored', 'upgraded', 'unchanged', 'kept', 'refused'];
  const rows = chains.map((chain) => [
    String(chain.chainId),
    ...[chain.stored, chain.upgraded, chain.unchanged, chain.kept, chain.refused].map(formatCount),
  ]);
  const would = dryRun ? 'dry run, nothing is stored; it would be: ' : '';
  const { stored, upgraded, unchanged, kept, refused } = totals;
  const lines = [
    `${would}${formatCount(stored)} stored, ${formatCount(upgraded)} upgraded, ` +
      `${formatCount(unchanged)} unchanged, ${formatCount(refused)} refused ` +
      `in ${formatSeconds(durationMs / 1000)} (${formatCount(entriesPerSecond)}/s)`,
    ...(kept === 0
      ? []
      : [
          `${formatCount(kept)} kept: the tree says full, and this service verified a partial match itself, which stays`,
        ]),
    ...(foreignFiles === 0
      ? []
      : [`${formatCount(foreignFiles)} files that do not belong to the tree were left alone`]),
  ];
  return [
    rows.length === 0 ? '' : renderTable(heads, rows),
    ...lines.map((line) => `${line}\n`),
    renderRefused(summary.refused, refused),
  ].join('');
}

function renderRefused(refused: readonly RefusedEntry[], count: number): string {
  const shown = refused.slice(0, SHOWN_REFUSALS);
  const lines = shown.map(
    ({ path, reason, detail }) => `refused ${path}\n  ${reason}: ${detail}\n`,
  );
  const more = count - shown.length;
  return more === 0
    ? lines.join('')
    : `${lines.join('')}and ${formatCount(more)} more; --json lists every refused entry\n`;
}
