import { type ComponentChildren, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { type PageContext, type ViewProps } from '../page.ts';
import { MatchShape } from '../parts/match-mark.tsx';
import { type FoundCode, readCode } from '../parts/read-code.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { type ContractData } from './contract-data.ts';

/** Why a contract has no verdict, and the next step. */
export function NotVerified({
  data: { chain, contract },
  request: { params },
  context: { base, verify },
}: ViewProps<ContractData>): VNode {
  const chainId = params['chain'] ?? '';
  const address = params['address'] ?? '';
  if (isUnknownChain(contract)) {
    return (
      <Verdict title="Unknown chain">
        <p>
          No chain with the id <SafeText text={chainId} /> is known here.
        </p>
        <p>
          <a class="button" href={`${base}registry?q=${encodeURIComponent(chainId)}`}>
            Search chains
          </a>
        </p>
      </Verdict>
    );
  }
  if (chain.state === 'ready' && !chain.value.supported) {
    return (
      <Verdict title="Not verified, and the chain is not supported">
        <p>
          Contracts on <SafeText text={chain.value.name} /> can’t be verified here. That does not
          make this one unsafe.
        </p>
        <p>
          <a href={`${base}registry/${encodeURIComponent(chainId)}`}>See the chain</a> ·{' '}
          <a href={`${base}registry?supported=yes`}>Supported chains</a>
        </p>
      </Verdict>
    );
  }
  const chainName = chain.state === 'ready' ? chain.value.name : `chain ${chainId}`;
  return <Unverified {...{ base, verify, chainId, address, chainName }} />;
}

/** Whether the contract's chain is unknown. */
export const isUnknownChain = (contract: ContractData['contract']): boolean =>
  contract.state === 'failed' && contract.code === 'unsupported_chain';

/** Longer than the service waits for the chain. */
const CHAIN_TIMEOUT_MS = 15_000;

/** Reads the code at an address, in the browser only: rendering never waits for a chain. */
function useCode(base: string, chainId: string, address: string): FoundCode | undefined {
  const [code, setCode] = useState<FoundCode>();
  useEffect(() => {
    const api = createApi((path) => fetch(`${base}${path}`), { timeoutMs: CHAIN_TIMEOUT_MS });
    void readCode(api, chainId, address).then(setCode);
  }, [base, chainId, address]);
  return code;
}

function Unverified({
  base,
  verify,
  chainId,
  address,
  chainName,
}: {
  readonly base: string;
  readonly verify: PageContext['verify'];
  readonly chainId: string;
  readonly address: string;
  readonly chainName: string;
}): VNode {
  const code = useCode(base, chainId, address);
  const query = new URLSearchParams({ chain: chainId, address });
  return (
    <div aria-live="polite">
      {code?.kind === 'none' ? (
        <Verdict title="No code at this address">
          <p>
            Nothing is deployed here on <SafeText text={chainName} /> now. Check the address and the
            chain. A contract that was here may have destroyed itself.
          </p>
          <p>
            <a class="button" href={`${base}contracts?q=${encodeURIComponent(address)}`}>
              Search this address on other chains
            </a>
          </p>
        </Verdict>
      ) : (
        <Verdict title="Not verified yet">
          <p>That does not make it unsafe.</p>
          {code?.kind === 'found' && code.version !== undefined && (
            <p class="quiet">
              Its metadata names <SafeText text={`${code.compiler ?? ''} ${code.version}`} />.
            </p>
          )}
          {verify !== 'off' && (
            <p>
              <a class="button" href={`${base}verify?${query.toString()}`}>
                Verify
              </a>
            </p>
          )}
        </Verdict>
      )}
    </div>
  );
}

function Verdict({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class="verdict none">
      <p class="verdict-title">
        <span class="match none">
          <MatchShape kind="none" />
        </span>{' '}
        <span>{title}</span>
      </p>
      {children}
    </div>
  );
}
