import { z } from 'zod';
import { lacksMethod } from '../rpc/creation-trace.ts';
import { hash } from '../rpc/rpc-shapes.ts';
import { type MethodEnd } from './creation-search.ts';
import { askInTurn, endpointsOf, type MethodParts } from './method-parts.ts';

const MAX_ENDPOINTS = 4;

/** Response of Otterscan's API (https://docs.otterscan.io/api-docs/ots-api); null if it knows no creator. */
const contractCreator = z.object({ hash }).nullable();

/** Finds the creation transaction in the index that some nodes keep: `ots_getContractCreator`. */
export async function askContractCreator(parts: MethodParts): Promise<MethodEnd> {
  const { rpc, chain, address, signal, propose } = parts;
  return askInTurn(endpointsOf(parts).slice(0, MAX_ENDPOINTS), async (endpoint) => {
    try {
      const request = {
        method: 'ots_getContractCreator',
        params: [address],
        result: contractCreator,
      };
      const creator = await rpc.ask(chain, endpoint, request, { signal });
      return { outcome: creator === null ? 'not_known' : await propose(creator.hash) };
    } catch (error) {
      if (lacksMethod(error)) return { outcome: 'not_supported' };
      throw error;
    }
  });
}
