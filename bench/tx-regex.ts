/** The time of each explorer's txRegex on hostile pages of 1 MB: `npx tsx bench/tx-regex.ts`. */
import { pathToFileURL } from 'node:url';
import { RE2JS } from 're2js';
import { findPageHashes } from '../src/chains/creation/page-hashes.ts';
import {
  EXPLORER_SAMPLES,
  HOSTILE_PAGE_CHARACTERS,
  makeHostilePages,
} from '../test/support/explorer-pages.ts';
import { median } from './median.ts';

const ROUNDS = 15;
const MAX_HITS = 3;

/** One line of the table: milliseconds for one page of 1 MB. */
interface TxRegexBenchmarkRow {
  readonly txRegex: string;
  /** The slowest page. */
  readonly worstPage: string;
  readonly medianMs: string;
  /** The pattern on that whole page at once, in the same engine. */
  readonly wholePageMs: string;
  readonly ratio: string;
}

function measure(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return median(times);
}

/** Measures every txRegex in the service entries of 2023 on every hostile page. */
function runTxRegexBenchmark(): readonly TxRegexBenchmarkRow[] {
  const patterns = EXPLORER_SAMPLES.flatMap(({ txRegex }) => txRegex ?? []);
  return patterns.map((txRegex) => {
    const pages = Object.entries(makeHostilePages(txRegex, HOSTILE_PAGE_CHARACTERS));
    const measured = pages
      .map(([name, page]) => ({
        name,
        page,
        ms: measure(() => findPageHashes(txRegex, page, MAX_HITS)),
      }))
      .sort((left, right) => right.ms - left.ms);
    const [worst] = measured;
    if (worst === undefined) throw new Error('there are no hostile pages');
    const pattern = RE2JS.compile(txRegex);
    const whole = measure(() => pattern.matcher(worst.page).find());
    return {
      txRegex,
      worstPage: worst.name,
      medianMs: worst.ms.toFixed(1),
      wholePageMs: whole.toFixed(1),
      ratio: (whole / worst.ms).toFixed(1),
    };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.table(runTxRegexBenchmark());
}
