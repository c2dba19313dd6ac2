/** Head of a chain as an endpoint returned it: number, and time in seconds since the epoch. */
export interface Head {
  readonly number: number;
  readonly timestamp: number;
}

/** Average block time of several consecutive blocks. */
interface PaceSample {
  readonly blocks: number;
  readonly secondsPerBlock: number;
}

/** Recent block times of a chain, newest last. */
export type Pace = readonly PaceSample[];

const REMEMBERED = 50;
/** A few blocks say little about a chain. */
const LEARNED_AFTER_BLOCKS = 20;
/** A block younger than this never counts as stale: clocks differ and responses are cached. */
const LEAST_STALL_S = 120;
const USUAL_TIMES = 20;
const LONGEST_TIMES = 3;

/**
 * The pace, updated with two heads of one endpoint. Heads that are not in sequence, such as those of two
 * nodes behind one URL, add nothing.
 */
export function updatePace(pace: Pace, earlier: Head, later: Head): Pace {
  const blocks = later.number - earlier.number;
  const seconds = later.timestamp - earlier.timestamp;
  if (blocks <= 0 || seconds < 0) return pace;
  return [...pace, { blocks, secondsPerBlock: seconds / blocks }].slice(-REMEMBERED);
}

/** Median block time in seconds; undefined while too few blocks were seen. */
export function medianBlockSeconds(pace: Pace): number | undefined {
  const blocks = pace.reduce((sum, sample) => sum + sample.blocks, 0);
  if (blocks < LEARNED_AFTER_BLOCKS) return undefined;
  const sorted = pace.map(({ secondsPerBlock }) => secondsPerBlock).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/**
 * Maximum age of the newest block in seconds: a multiple of the median block time, and of the longest
 * observed one, for chains that make blocks only on demand. Undefined while the pace is unknown.
 */
export function maxHeadAgeSeconds(pace: Pace): number | undefined {
  const usual = medianBlockSeconds(pace);
  if (usual === undefined) return undefined;
  const longest = Math.max(...pace.map(({ secondsPerBlock }) => secondsPerBlock));
  return Math.max(LEAST_STALL_S, USUAL_TIMES * usual, LONGEST_TIMES * longest);
}
