import { type ChainRegistry } from '../../../chains/registry/registry.ts';
import { type AnswerOf } from '../../answer.ts';
import { type chainListSchema } from './etherscan-wire.ts';

/** The chains whose contracts may be verified. @param base where the API host is reached, without a closing slash */
export function renderChainList(
  { chains }: ChainRegistry,
  base: string,
): AnswerOf<typeof chainListSchema> {
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
