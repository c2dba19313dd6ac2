import { readTrailingAuxdata } from '../bytecode/auxdata.ts';
import { readTrailingVyperAuxdata } from '../bytecode/vyper-auxdata.ts';
import { findVersion } from '../compilers/compiler-version.ts';
import { FullmatchError } from '../errors.ts';
import { combineSignals } from '../lib/combine-signals.ts';
import { abortable } from '../lib/deadline.ts';
import { type Hex } from '../lib/hex.ts';
import { CachedLookup } from '../chains/rpc/cached-lookup.ts';
import { isDelegation } from '../chains/rpc/delegation.ts';
import { type VerificationParts } from './verify-contract.ts';

/** The compiler that the bytecode on chain names. */
export interface CompilerProposal {
  /** Size of the runtime bytecode on chain. */
  readonly codeBytes: number;
  readonly compiler?: 'solc' | 'vyper';
  /** The long version if it is known here, otherwise the version in the bytecode; absent if there is none. */
  readonly compilerVersion?: string;
  /**
   * `none` if the bytecode does not name its compiler: runtime bytecode of Solidity does since 0.5.9, of
   * Vyper only in 0.3.4 to 0.3.9.
   */
  readonly from: 'auxdata' | 'none';
}

/** The client that requests a proposal, and its abort signal. */
export interface ProposalRequester {
  readonly client: string;
  readonly signal: AbortSignal;
}

/** Proposes compilers within limits; see {@link CachedLookup}. */
export interface ProposalReader {
  /**
   * Returns the compiler that the bytecode at an address names.
   * @throws FullmatchError unsupported_chain, contract_not_deployed, cannot_fetch_bytecode, queue_full; the
   * reason of the requester's signal
   */
  propose(chainId: number, address: Hex, requester: ProposalRequester): Promise<CompilerProposal>;
}

const LIMITS = {
  atOnce: { total: 8, perClient: 4, waiting: 64, waitingPerClient: 16, waitMs: 10_000 },
  ...{ keptMs: 60_000, failureKeptMs: 5_000, mostKept: 1_000 },
};
const DEADLINE_MS = 10_000;

/**
 * Creates the reader. Results are cached for a minute.
 * @param ending aborts the reads; a client's own signal does not, since others may wait for the same read
 */
export function createProposalReader(
  { readDeployedCode, quorumOf, findSupportedChain }: VerificationParts,
  listVersions: (language: string) => Promise<readonly string[]>,
  ending: AbortSignal,
): ProposalReader {
  const lookups = new CachedLookup<CompilerProposal>(LIMITS);
  const read = async (chainId: number, address: Hex): Promise<CompilerProposal> => {
    const chain = findSupportedChain(chainId);
    if (chain === undefined) {
      const message = `Contracts of chain ${chainId} cannot be verified here.`;
      throw new FullmatchError('unsupported_chain', message, { details: { chainId } });
    }
    const quorum = quorumOf(chainId);
    const reading = combineSignals([ending, AbortSignal.timeout(DEADLINE_MS)]);
    const { code } = await readDeployedCode(chain, address, {
      signal: reading.signal,
      ...(quorum !== undefined && { quorum }),
    }).finally(() => reading.release());
    const codeBytes = code.length;
    if (isDelegation(code)) return { codeBytes, from: 'none' };
    const propose = async (
      compiler: 'solc' | 'vyper',
      version: string,
      language: string,
    ): Promise<CompilerProposal> => {
      const compilerVersion = nameVersion(version, await listVersions(language));
      return { codeBytes, from: 'auxdata', compiler, compilerVersion };
    };
    const solc = readTrailingAuxdata(code)?.solc;
    if (solc !== undefined) return propose('solc', solc, 'solidity');
    const vyper = readTrailingVyperAuxdata(code)?.vyper;
    return vyper === undefined ? { codeBytes, from: 'none' } : propose('vyper', vyper, 'vyper');
  };
  return {
    propose: (chainId, address, { client, signal }) =>
      abortable(
        lookups.ask(`${chainId} ${address}`, client, () => read(chainId, address)),
        signal,
      ),
  };
}

/** Returns the long version of a release if it is known here; auxdata of a release contains only its three numbers. */
function nameVersion(solc: string, known: readonly string[]): string {
  try {
    return findVersion(solc, known) ?? solc;
  } catch {
    return solc;
  }
}
