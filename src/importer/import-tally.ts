import { printableText } from '../lib/printable-text.ts';
import { type ImportCounts, type ImportProgress, RateMeter } from './import-progress.ts';
import { type Refusal, type RefusalReason, type RefusedEntry } from './refusal.ts';

/** Counts of an import on one chain; each entry of the chain's folders counts once. */
export interface ChainTally extends ImportCounts {
  readonly chainId: number;
}

/** Outcome of an entry that was not refused. */
export type Outcome = Exclude<keyof ImportCounts, 'refused'>;

/** Counts of an import. In a dry run `stored` and `upgraded` are what would happen. */
export interface ImportSummary {
  /** The folder that contains `full_match` and `partial_match`, or the archive. */
  readonly root: string;
  readonly dryRun: boolean;
  /** Whether the run was stopped early; everything counted is stored. */
  readonly interrupted: boolean;
  /** Ascending by chain id. */
  readonly chains: readonly ChainTally[];
  /** Over all chains, including entries with an invalid chain folder. */
  readonly totals: ImportCounts;
  /** Files among the folders that do not belong to the tree. */
  readonly foreignFiles: number;
  readonly refusedByReason: Readonly<Partial<Record<RefusalReason, number>>>;
  /** The first refused entries; `onRefused` receives every one. */
  readonly refused: readonly RefusedEntry[];
  readonly durationMs: number;
  /** Entries a second over the whole run. */
  readonly entriesPerSecond: number;
}

type Counts = Record<Outcome | 'refused', number>;

const LISTED_REFUSALS = 1000;
const newCounts = (): Counts => ({ stored: 0, upgraded: 0, unchanged: 0, kept: 0, refused: 0 });

/** Counts the outcomes of entries. Memory grows with the number of chains, not of entries. */
export class ImportTally {
  readonly #startMs = performance.now();
  readonly #meter = new RateMeter(this.#startMs);
  readonly #totals = newCounts();
  readonly #chains = new Map<number, Counts>();
  readonly #reasons = new Map<RefusalReason, number>();
  readonly #refused: RefusedEntry[] = [];
  readonly #onRefused: (entry: RefusedEntry) => void;
  #foreignFiles = 0;
  #total: number | undefined;

  constructor(onRefused: (entry: RefusedEntry) => void) {
    this.#onRefused = onRefused;
  }

  /** Sets the total number of entries, from which the time left is computed. */
  setTotal(total: number | undefined): void {
    this.#total = total;
  }

  count(chainId: number, outcome: Outcome): void {
    this.#totals[outcome] += 1;
    this.#countsOf(chainId)[outcome] += 1;
  }

  refuse(path: string, refusal: Pick<Refusal, 'reason' | 'message'>, chainId?: number): void {
    const { reason, message: detail } = refusal;
    const entry: RefusedEntry = {
      path: printableText(path),
      reason,
      detail,
      ...(chainId !== undefined && { chainId }),
    };
    this.#totals.refused += 1;
    if (chainId !== undefined) this.#countsOf(chainId).refused += 1;
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
    if (this.#refused.length < LISTED_REFUSALS) this.#refused.push(entry);
    this.#onRefused(entry);
  }

  ignoreForeignFile(): void {
    this.#foreignFiles += 1;
  }

  progress(): ImportProgress {
    const done = this.#done();
    const total = this.#total;
    const entriesPerSecond = this.#meter.perSecond(performance.now(), done);
    return {
      ...this.#totals,
      done,
      ...(total !== undefined && { total }),
      entriesPerSecond,
      ...(total !== undefined &&
        entriesPerSecond > 0 && { secondsLeft: Math.max(0, total - done) / entriesPerSecond }),
    };
  }

  summarize(run: Pick<ImportSummary, 'root' | 'dryRun' | 'interrupted'>): ImportSummary {
    const durationMs = performance.now() - this.#startMs;
    return {
      ...run,
      chains: [...this.#chains]
        .map(([chainId, counts]) => ({ chainId, ...counts }))
        .sort((left, right) => left.chainId - right.chainId),
      totals: { ...this.#totals },
      foreignFiles: this.#foreignFiles,
      refusedByReason: Object.fromEntries(this.#reasons),
      refused: [...this.#refused],
      durationMs: Math.round(durationMs),
      entriesPerSecond: Math.round((this.#done() * 1000) / Math.max(durationMs, 1)),
    };
  }

  #done(): number {
    const { stored, upgraded, unchanged, kept, refused } = this.#totals;
    return stored + upgraded + unchanged + kept + refused;
  }

  #countsOf(chainId: number): Counts {
    const known = this.#chains.get(chainId);
    if (known !== undefined) return known;
    const counts = newCounts();
    this.#chains.set(chainId, counts);
    return counts;
  }
}
