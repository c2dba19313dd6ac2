import { FullmatchError } from '../../errors.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { readBlock, readCodeByNumber } from '../rpc/code-reading.ts';
import { lacksMethod } from '../rpc/creation-trace.ts';
import { bisectCreation, type CodeState } from './bisect-creation.ts';
import { type MethodEnd } from './creation-search.ts';
import { askInTurn, endpointsOf, type MethodParts } from './method-parts.ts';
import { searchBlock } from './search-block.ts';

const MAX_ENDPOINTS = 3;
/** A block may be replaced while it is read; one that is replaced again and again is too new to be sure of. */
const MAX_ATTEMPTS = 2;

/**
 * The creation transaction without any index: the block in which the code appeared, by halving the chain with
 * historical eth_getCode, and in that block the transaction that created it.
 */
export async function searchBlocks(parts: MethodParts): Promise<MethodEnd> {
  return askInTurn(byArchive(parts).slice(0, MAX_ENDPOINTS), async (endpoint) => {
    let end: MethodEnd = { outcome: 'reorganised' };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      end = await searchAt(parts, endpoint);
      if (end.outcome !== 'reorganised') break;
    }
    return end;
  });
}

/** Archives first; one that is known to keep late states only still finds late creations. */
function byArchive(parts: MethodParts): readonly Endpoint[] {
  const { chainId } = parts.chain.record;
  const endpoints = endpointsOf(parts);
  return (['yes', 'unknown', 'no'] as const).flatMap((wanted) =>
    endpoints.filter((endpoint) => parts.archive(chainId, endpoint) === wanted),
  );
}

async function searchAt(parts: MethodParts, endpoint: Endpoint): Promise<MethodEnd> {
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
      // A node without that state refuses; one that is away or asked too much would say so.
      if (error instanceof FullmatchError && lacksMethod(error)) return 'unavailable';
      throw error;
    }
  });
  if (typeof found === 'string') return { outcome: found };
  const outcome = await searchBlock(parts, endpoint, found);
  return { outcome, detail: `${outcome} (block ${found})` };
}
