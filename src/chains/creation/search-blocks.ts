import { FullmatchError } from '../../errors.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { readBlock, readCodeByNumber } from '../rpc/code-reading.ts';
import { lacksMethod } from '../rpc/creation-trace.ts';
import { bisectCreation, type CodeState } from './bisect-creation.ts';
import { type MethodResult } from './creation-search.ts';
import { queryInSequence, endpointsOf, type MethodDependencies } from './method-parts.ts';
import { searchBlock } from './search-block.ts';

const MAX_ENDPOINTS = 3;
/** A block may be replaced while it is read; one that keeps being replaced is too new to be certain. */
const MAX_ATTEMPTS = 2;

/**
 * Finds the creation transaction without any index: the block in which the code appeared, by binary search
 * with historical eth_getCode, and the transaction in that block that created it.
 */
export async function searchBlocks(parts: MethodDependencies): Promise<MethodResult> {
  return queryInSequence(byArchive(parts).slice(0, MAX_ENDPOINTS), async (endpoint) => {
    let end: MethodResult = { outcome: 'reorganised' };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      end = await searchAt(parts, endpoint);
      if (end.outcome !== 'reorganised') break;
    }
    return end;
  });
}

/** Archive nodes first; a node known to keep only recent states still finds recent creations. */
function byArchive(parts: MethodDependencies): readonly Endpoint[] {
  const { chainId } = parts.chain.record;
  const endpoints = endpointsOf(parts);
  return (['yes', 'unknown', 'no'] as const).flatMap((wanted) =>
    endpoints.filter((endpoint) => parts.archive(chainId, endpoint) === wanted),
  );
}

async function searchAt(parts: MethodDependencies, endpoint: Endpoint): Promise<MethodResult> {
  const { rpc, chain, address, signal } = parts;
  const question = { rpc, chain, address, options: { signal } };
  const readCode = (block: number): Promise<Buffer> => readCodeByNumber(question, endpoint, block);
  const head = await readBlock(question, endpoint, 'latest');
  if (head === null) return { outcome: 'cannot_fetch', detail: 'block_unknown' };
  const code = await readCode(head.number);
  if (code.length === 0) return { outcome: 'no_code' };
  const found = await bisectCreation(head.number, async (block): Promise<CodeState> => {
    try {
      return (await readCode(block)).equals(code) ? 'same' : 'other';
    } catch (error) {
      // A node without that state refuses; unavailable or throttled nodes fail differently.
      if (error instanceof FullmatchError && lacksMethod(error)) return 'unavailable';
      throw error;
    }
  });
  if (typeof found === 'string') return { outcome: found };
  const outcome = await searchBlock(parts, endpoint, found);
  return { outcome, detail: `${outcome} (block ${found})` };
}
