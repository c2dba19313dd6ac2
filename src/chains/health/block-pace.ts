/** The head of a chain as an endpoint gave it: number, and time in seconds since the epoch. */
export interface Head {
  readonly number: number;
  readonly timestamp: number;
}

/** The average time of some blocks that followed each other. */
interface PaceSample {
  readonly blocks: number;
  readonly secondsPerBlock: number;
}

/** How fast a chain was seen to make blocks; the newest last. */
export type Pace = readonly PaceSample[];

const REMEMBERED = 50;
/** A few blocks say little of a chain. */
const LEARNED_AFTER_BLOCKS = 20;
/** A younger block is never too old: clocks differ, and answers are cached. */
const LEAST_STALL_S = 120;
const USUAL_TIMES = 20;
const LONGEST_TIMES = 3;

/**
 * The pace, updated by two heads of one endpoint. Heads that do not follow each other, such as those of two
 * nodes behind one URL, add nothing.
 */
export function learnPace(pace: Pace, earlier: Head, later: Head): Pace {
  const blocks = later.number - earlier.number;
  const seconds = later.timestamp - earlier.timestamp;
  if (blocks <= 0 || seconds < 0) return pace;
  return [...pace, { blocks, secondsPerBlock: seconds / blocks }].slice(-REMEMBERED);
}

/** The usual time from block to block in seconds: the median. Undefined while too few blocks were seen. */
export function usualSeconds(pace: Pace): number | undefined {
  const blocks = pace.reduce((sum, sample) => sum + sample.blocks, 0);
  if (blocks < LEARNED_AFTER_BLOCKS) return undefined;
  const sorted = pace.map(({ secondsPerBlock }) => secondsPerBlock).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/**
 * How old the newest block may be, in seconds: many times the usual time, and some times the longest that was seen, for
 * chains that make blocks only when there is something to put in. Undefined while the pace is not known.
 */
export function oldestHeadSeconds(pace: Pace): number | undefined {
  const usual = usualSeconds(pace);
  if (usual === undefined) return undefined;
  const longest = Math.max(...pace.map(({ secondsPerBlock }) => secondsPerBlock));
  return Math.max(LEAST_STALL_S, USUAL_TIMES * usual, LONGEST_TIMES * longest);
}
