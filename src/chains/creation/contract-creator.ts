import { z } from 'zod';
import { lacksMethod } from '../rpc/creation-trace.ts';
import { hash } from '../rpc/rpc-shapes.ts';
import { type MethodResult } from './creation-search.ts';
import { queryInSequence, endpointsOf, type MethodDependencies } from './method-parts.ts';

const MAX_ENDPOINTS = 4;

/** Response of Otterscan's API (https://docs.otterscan.io/api-docs/ots-api); null if it knows no creator. */
const contractCreator = z.object({ hash }).nullable();

/** Finds the creation transaction in the index that some nodes keep: `ots_getContractCreator`. */
export async function findContractCreator(parts: MethodDependencies): Promise<MethodResult> {
  const { rpc, chain, address, signal, propose } = parts;
  return queryInSequence(endpointsOf(parts).slice(0, MAX_ENDPOINTS), async (endpoint) => {
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
