/** State of an address at a block: the current code, other code or none, or a state that the node no longer keeps. */
export type CodeState = 'same' | 'other' | 'unavailable';

/** The block whose transactions created the code, or the reason none was found. */
export type CreationBlock = number | 'at_genesis' | 'no_archive';

/** Blocks between the creation and the head at which the code is checked again. */
const SAMPLES = 6;
const MAX_ROUNDS = 4;

interface Bounds {
  /** A block without the current code; -1 is before the genesis block. */
  readonly below: number;
  readonly stateBelow: Exclude<CodeState, 'same'>;
  /** A block with the current code. */
  readonly above: number;
}

/**
 * Finds the block in which the code at an address became what it is at `head`, by binary search: about 25
 * requests on a chain of tens of millions of blocks. A node that keeps only recent states suffices if the
 * creation is recent. A contract that destroyed itself and was recreated (possible until EIP-6780) has other
 * code before, or none: blocks in between are sampled, so the last creation is found unless it closely
 * follows the destruction.
 * @param read reads the state at a block; never called for `head`
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

/** Adjacent bounds. States that a node no longer keeps are older than those that it keeps. */
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

/** The last sampled block after the creation at which the code is missing. */
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
