import { type ChainRegistry } from '../../../chains/registry/registry.ts';
import { type ResponseOf } from '../../answer.ts';
import { type chainListSchema } from './etherscan-wire.ts';

/**
 * Lists the chains whose contracts can be verified.
 * @param base URL of the API host, without a trailing slash
 */
export function renderChainList(
  { chains }: ChainRegistry,
  base: string,
): ResponseOf<typeof chainListSchema> {
  const result = chains
    .filter(({ record }) => record.supported)
    .map(({ record: { chainId, name } }) => ({
      chainname: name,
      chainid: String(chainId),
      blockexplorer: `${base}/evm/${chainId}`,
      apiurl: `${base}/v2/api?chainid=${chainId}`,
      status: 1,
      comment: '',
    }));
  return { comments: 'Chains whose contracts may be verified', totalcount: result.length, result };
}
