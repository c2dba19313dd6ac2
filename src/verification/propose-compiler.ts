import { readTrailingAuxdata } from '../bytecode/auxdata.ts';
import { readTrailingVyperAuxdata } from '../bytecode/vyper-auxdata.ts';
import { findVersion } from '../compilers/compiler-version.ts';
import { FullmatchError } from '../errors.ts';
import { endWith } from '../lib/deadline.ts';
import { type Hex } from '../lib/hex.ts';
import { CachedLookup } from '../chains/rpc/cached-lookup.ts';
import { isDelegation } from '../chains/rpc/delegation.ts';
import { type VerificationParts } from './verify-contract.ts';

/** What the code on chain says of the compiler that made it. */
export interface CompilerProposal {
  readonly compiler?: 'solc' | 'vyper';
  /** The long version where it is known here, else what the code says; absent where it says nothing. */
  readonly compilerVersion?: string;
  /**
   * `none` where the code does not say its compiler: running code of Solidity does since 0.5.9, of Vyper 0.3.4 to 0.3.9 alone.
   */
  readonly from: 'auxdata' | 'none';
}

/** Who asks for a proposal, and until when. */
export interface ProposalAsker {
  readonly client: string;
  readonly signal: AbortSignal;
}

/** Reads proposals within bounds, see {@link CachedLookup}. */
export interface ProposalReader {
  /**
   * What the code at an address says of its compiler.
   * @throws FullmatchError unsupported_chain, contract_not_deployed, cannot_fetch_bytecode, queue_full; the reason of
   * the asker's signal
   */
  propose(chainId: number, address: Hex, asker: ProposalAsker): Promise<CompilerProposal>;
}

const LIMITS = {
  atOnce: { total: 8, perClient: 4, waiting: 64, waitingPerClient: 16, waitMs: 10_000 },
  ...{ keptMs: 60_000, failureKeptMs: 5_000, mostKept: 1_000 },
};
const DEADLINE_MS = 10_000;

/**
 * Makes the reader. What an address said a minute ago is not asked again.
 * @param ending of the readings: others may wait for one when its asker goes away
 */
export function createProposalReader(
  { readDeployedCode, quorumOf, findSupportedChain }: VerificationParts,
  listVersions: (language: string) => Promise<readonly string[]>,
  ending: AbortSignal,
): ProposalReader {
  const looks = new CachedLookup<CompilerProposal>(LIMITS);
  const read = async (chainId: number, address: Hex): Promise<CompilerProposal> => {
    const chain = findSupportedChain(chainId);
    if (chain === undefined) {
      const message = `Contracts of chain ${chainId} cannot be verified here.`;
      throw new FullmatchError('unsupported_chain', message, { details: { chainId } });
    }
    const quorum = quorumOf(chainId);
    const { code } = await readDeployedCode(chain, address, {
      signal: AbortSignal.any([ending, AbortSignal.timeout(DEADLINE_MS)]),
      ...(quorum !== undefined && { quorum }),
    });
    if (isDelegation(code)) return { from: 'none' };
    const propose = async (
      compiler: 'solc' | 'vyper',
      version: string,
      language: string,
    ): Promise<CompilerProposal> => {
      const compilerVersion = nameVersion(version, await listVersions(language));
      return { from: 'auxdata', compiler, compilerVersion };
    };
    const solc = readTrailingAuxdata(code)?.solc;
    if (solc !== undefined) return propose('solc', solc, 'solidity');
    const vyper = readTrailingVyperAuxdata(code)?.vyper;
    return vyper === undefined ? { from: 'none' } : propose('vyper', vyper, 'vyper');
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
