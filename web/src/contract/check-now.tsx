import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { describeFailure } from '../api.ts';
import { type PageContext } from '../page.ts';
import { postJson, readToken } from '../parts/post-json.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { useHydrated } from '../use-hydrated.ts';
import { recordOwnJob } from '../verify/own-jobs.ts';
import { type ContractFacts } from './contract-data.ts';

interface Props {
  readonly base: string;
  readonly chainId: string;
  readonly address: string;
  readonly compilation: NonNullable<ContractFacts['compilation']>;
}

/** Verifies the claim of another service: submits its sources like any others, and a job compiles and compares them. */
export function CheckNow({
  verify,
  base,
  chainId,
  address,
  compilation,
}: Props & { readonly verify: PageContext['verify'] }): VNode | null {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly fault?: string }>({
    isBusy: false,
  });
  const isHydrated = useHydrated();
  const check = async (): Promise<void> => {
    setState({ isBusy: true });
    try {
      const { verificationId } = await submitClaim({ base, chainId, address, compilation });
      recordOwnJob(verificationId);
      location.assign(`${base}job/${verificationId}`);
    } catch (error) {
      setState({ isBusy: false, fault: error instanceof Error ? error.message : String(error) });
    }
  };
  if (verify === 'off') return null;
  // A claim can be submitted by scripts only, and without a token only to a service that needs none.
  if (!isHydrated || (verify === 'token' && readToken() === '')) {
    const place = new URLSearchParams({ chain: chainId, address });
    return (
      <p>
        <a href={`${base}verify?${place.toString()}`}>Verify it here</a> to check the claim.
      </p>
    );
  }
  return (
    <>
      <p>
        <button type="button" disabled={state.isBusy} onClick={() => void check()}>
          Check now
        </button>{' '}
        <span class="quiet">
          Compiles these sources here and compares the result with the chain.
        </span>
      </p>
      <p role="status">{state.fault !== undefined && <SafeText text={state.fault} />}</p>
    </>
  );
}

/** @throws Error with the service's message */
async function submitClaim({
  base,
  chainId,
  address,
  compilation,
}: Props): Promise<{ readonly verificationId: string }> {
  const sources = `${base}v1/contracts/${chainId}/${address}/files/standard-input.json`;
  const { compilerVersion, fullyQualifiedName } = compilation;
  const body = {
    stdJsonInput: await readJson(await fetch(sources)),
    compilerVersion,
    contractIdentifier: fullyQualifiedName,
  };
  const answer = await postJson(`${base}v2/verify/${chainId}/${address}`, body);
  return (await readJson(answer)) as { verificationId: string };
}

async function readJson(response: Response): Promise<unknown> {
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(describeFailure(body).message);
  return body;
}
