/** What a node says about an address at a block: today's code, other code or none, or that it no longer keeps that state. */
export type CodeState = 'same' | 'other' | 'unavailable';

/** The block whose transactions made the code what it is; or why there is none to be found. */
export type CreationBlock = number | 'at_genesis' | 'no_archive';

/** Blocks between the creation and today at which the code is looked at again. */
const SAMPLES = 6;
const MAX_ROUNDS = 4;

interface Bounds {
  /** A block without today's code; -1 stands before the genesis block. */
  readonly below: number;
  readonly stateBelow: Exclude<CodeState, 'same'>;
  /** A block with it. */
  readonly above: number;
}

/**
 * The block in which the code at an address became what it is in the block `head`, by halving: some 25 questions on a
 * chain of tens of millions of blocks. A node that keeps only late states is not an obstacle when the creation is later.
 * A contract that destroyed itself and was recreated (possible until EIP-6780) has other code before, or none: what
 * lies between is sampled, so that the last creation is found unless it follows the destruction closely.
 * @param read the state at a block; called for `head` never
 */
export async function bisectCreation(
  head: number,
  read: (block: number) => Promise<CodeState>,
): Promise<CreationBlock> {
  let bounds = await halve({ below: -1, stateBelow: 'other', above: head }, read);
  for (let round = 1; round < MAX_ROUNDS; round += 1) {
    const gap = await findGap(bounds.above, head, read);
    if (gap === undefined) break;
    bounds = await halve({ below: gap, stateBelow: 'other', above: head }, read);
  }
  if (bounds.stateBelow === 'unavailable') return 'no_archive';
  return bounds.above === 0 ? 'at_genesis' : bounds.above;
}

/** Bounds that are neighbours. States that a node no longer keeps lie below those that it keeps. */
async function halve(bounds: Bounds, read: (block: number) => Promise<CodeState>): Promise<Bounds> {
  let { below, stateBelow, above } = bounds;
  while (above - below > 1) {
    const middle = below + Math.floor((above - below) / 2);
    const state = await read(middle);
    if (state === 'same') above = middle;
    else [below, stateBelow] = [middle, state];
  }
  return { below, stateBelow, above };
}

/** The last of some blocks after the creation at which the code is not there. */
async function findGap(
  created: number,
  head: number,
  read: (block: number) => Promise<CodeState>,
): Promise<number | undefined> {
  const step = (head - created) / (SAMPLES + 1);
  const blocks = Array.from(
    { length: SAMPLES },
    (_, index) => created + Math.floor(step * (index + 1)),
  );
  const distinct = [...new Set(blocks)].filter((block) => block > created && block < head);
  for (const block of distinct.reverse()) {
    if ((await read(block)) === 'other') return block;
  }
  return undefined;
}
