import { readTrailingAuxdata } from '../bytecode/auxdata.ts';
import { findVersion } from '../compilers/compiler-version.ts';
import { FullmatchError } from '../errors.ts';
import { endWith } from '../lib/abort-scope.ts';
import { type Hex } from '../lib/hex.ts';
import { SharedLooks } from '../chains/rpc/shared-looks.ts';
import { isDelegation } from '../chains/rpc/delegation.ts';
import { type VerificationParts } from './verify-contract.ts';

/** What the code on chain says of the compiler that made it. */
export interface CompilerProposal {
  /** The long version where it is known here, else what the code says; absent where it says nothing. */
  readonly compilerVersion?: string;
  /** `none` where the code holds no auxdata, or an auxdata of a compiler before 0.5.9, which did not write its version. */
  readonly from: 'auxdata' | 'none';
}

/** Who asks for a proposal, and until when. */
export interface ProposalAsker {
  readonly client: string;
  readonly signal: AbortSignal;
}

/** Reads proposals within bounds, see {@link SharedLooks}. */
export interface ProposalReader {
  /**
   * What the code at an address says of its compiler.
   * @throws FullmatchError unsupported_chain, contract_not_deployed, cannot_fetch_bytecode, queue_full; the reason of
   * the asker's signal
   */
  propose(chainId: number, address: Hex, asker: ProposalAsker): Promise<CompilerProposal>;
}

const LIMITS = {
  places: { places: 8, placesOfNetwork: 4, waiting: 64, waitingOfNetwork: 16, waitMs: 10_000 },
  ...{ perMinute: 120, keptMs: 60_000, failureKeptMs: 5_000, mostKept: 1_000 },
};
const DEADLINE_MS = 10_000;

/**
 * Makes the reader. What an address said a minute ago is not asked again.
 * @param ending of the readings: others may wait for one when its asker goes away
 */
export function createProposalReader(
  { readDeployedCode, quorumOf, findSupportedChain }: VerificationParts,
  listVersions: () => Promise<readonly string[]>,
  ending: AbortSignal,
): ProposalReader {
  const looks = new SharedLooks<CompilerProposal>(LIMITS);
  const read = async (chainId: number, address: Hex): Promise<CompilerProposal> => {
    const chain = findSupportedChain(chainId);
    if (chain === undefined) {
      const message = `Contracts of chain ${chainId} are not verified here.`;
      throw new FullmatchError('unsupported_chain', message, { details: { chainId } });
    }
    const quorum = quorumOf(chainId);
    const { code } = await readDeployedCode(chain, address, {
      signal: AbortSignal.any([ending, AbortSignal.timeout(DEADLINE_MS)]),
      ...(quorum !== undefined && { quorum }),
    });
    const solc = isDelegation(code) ? undefined : readTrailingAuxdata(code)?.solc;
    if (solc === undefined) return { from: 'none' };
    return { from: 'auxdata', compilerVersion: nameVersion(solc, await listVersions()) };
  };
  return {
    propose: (chainId, address, { client, signal }) =>
      endWith(
        looks.ask(`${chainId} ${address}`, client, () => read(chainId, address)),
        signal,
      ),
  };
}

/** A release with its commit, where it is one that is known here; auxdata of a release says only its three numbers. */
function nameVersion(solc: string, known: readonly string[]): string {
  try {
    return findVersion(solc, known) ?? solc;
  } catch {
    return solc;
  }
}
