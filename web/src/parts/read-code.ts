import { type CompilerProposal } from '../../../client/src/schemas.ts';
import { type Api } from '../api.ts';
import { pathPart } from '../../../client/src/path-part.ts';

/** The code at an address, and the compiler that it names. */
export type FoundCode =
  | {
      readonly kind: 'found';
      readonly bytes: number;
      readonly compiler?: 'solc' | 'vyper';
      readonly version?: string;
    }
  /** There is no code, or it could not be read. */
  | { readonly kind: 'none' | 'unreadable' };

/** Reads the code at an address from the chain, which may take seconds. */
export async function readCode(api: Api, chainId: string, address: string): Promise<FoundCode> {
  const answer = await api.get<CompilerProposal>(
    `v1/verify/proposal/${pathPart(chainId)}/${pathPart(address)}`,
  );
  if (answer.state === 'failed') {
    return { kind: answer.code === 'contract_not_deployed' ? 'none' : 'unreadable' };
  }
  const { codeBytes: bytes, compiler, compilerVersion: version } = answer.value;
  return {
    ...{ kind: 'found', bytes },
    ...(compiler !== undefined && version !== undefined && { compiler, version }),
  };
}
