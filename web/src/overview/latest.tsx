import { type VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { formatTime } from '../format.ts';
import { type PageContext } from '../page.ts';
import { ContractList } from '../parts/contract-list.tsx';
import { type ListedContract } from '../listed-contract.ts';
import { useHydrated } from '../use-hydrated.ts';
import { type Live } from './use-live.ts';

/** Number of contracts shown. */
const SHOWN = 10;

/** The latest verifications: new ones appear at the top until the reader pauses them. */
export function Latest({
  contracts,
  live,
  context,
}: {
  /** Those in the rendered page. */
  readonly contracts: readonly ListedContract[];
  readonly live: Live;
  readonly context: PageContext;
}): VNode {
  const hydrated = useHydrated();
  const [paused, setPaused] = useState(false);
  const held = useRef(live.contracts);
  if (!paused) held.current = live.contracts;
  const [newest] = held.current;
  const waiting = newest === undefined ? live.contracts.length : live.contracts.indexOf(newest);
  const shown = latestOf([...held.current, ...contracts]).slice(0, SHOWN);
  return (
    <>
      {hydrated && (
        <p class="live-line">
          <button
            type="button"
            class="small"
            aria-pressed={paused}
            onClick={() => setPaused(!paused)}
          >
            Pause
          </button>{' '}
          <span role="status" class="quiet">
            {describe(live, paused, waiting)}
          </span>
        </p>
      )}
      {shown.length === 0 ? (
        <p>Nothing has been verified here yet.</p>
      ) : (
        <ContractList contracts={shown} caption="Latest contracts" context={context} withChain />
      )}
    </>
  );
}

/** One row for each contract, with its newest event. */
function latestOf(contracts: readonly ListedContract[]): readonly ListedContract[] {
  const seen = new Set<string>();
  return contracts.filter(({ chainId, address }) => {
    const key = `${chainId} ${address.toLowerCase()}`;
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
}

function describe(live: Live, paused: boolean, waiting: number): string {
  if (paused) return waiting > 0 ? `Paused, ${waiting} new` : 'Paused';
  if (live.state === 'live') return 'Live: new ones appear here';
  if (live.state === 'off') return 'Connecting';
  return `Interrupted since ${formatTime(live.since ?? '')}; trying again`;
}
