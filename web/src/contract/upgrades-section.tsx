import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ProxyUpgrades } from '../../../client/src/schemas.ts';
import { createApi, type Loaded } from '../api.ts';
import { formatCount } from '../format.ts';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { RecordTable } from '../parts/record-table.tsx';
import { ImplementationLink } from './implementation-link.tsx';
import { type Proxy, readProxy } from './contract-data.ts';
import { isClaim } from './is-claim.ts';

interface Props {
  /** As the service last read it; null or undefined if it has not. */
  readonly proxy: Proxy | null | undefined;
  readonly base: string;
  readonly chainId: string;
  readonly address: string;
}

/** A response has no more. */
const UPGRADES_MAX = 100;

type Upgrade = ProxyUpgrades['upgrades'][number];

/**
 * The implementations of a proxy over time, each compared with the one before. Only browsers read them,
 * since rendering never waits for a chain.
 */
export function UpgradesSection({ proxy: given, base, chainId, address }: Props): VNode | null {
  const [read, setRead] = useState<Loaded<ProxyUpgrades> | 'reading'>();
  useEffect(() => {
    const api = createApi((path) => fetch(`${base}${path}`));
    void (async () => {
      const proxy = given ?? (await readProxy(api, { chainId, address }));
      if (proxy?.isProxy !== true) return;
      setRead('reading');
      setRead(await api.get<ProxyUpgrades>(`v1/contracts/${chainId}/${address}/upgrades`));
    })();
  }, [base, chainId, address]);
  if (read === undefined) return null;
  return (
    <section aria-labelledby="upgrades">
      <h2 id="upgrades">Implementations over time</h2>
      {read === 'reading' && <p role="status">Reading the events of the proxy …</p>}
      {read !== 'reading' && read.state === 'failed' && (
        <Failure what="Upgrade events" loaded={read} />
      )}
      {read !== 'reading' && read.state === 'ready' && (
        <Upgrades read={read.value} base={base} chainId={chainId} />
      )}
    </section>
  );
}

function Upgrades({
  read: { upgrades, isComplete, lastBlock },
  base,
  chainId,
}: {
  readonly read: ProxyUpgrades;
  readonly base: string;
  readonly chainId: string;
}): VNode {
  const unread = `Events after block ${formatCount(lastBlock)} could not be read, because the chain's endpoints serve few blocks at once.`;
  if (upgrades.length === 0) {
    return <p>{isComplete ? 'This proxy has emitted no upgrade events.' : unread}</p>;
  }
  return (
    <>
      <RecordTable
        label="Implementations over time, newest first"
        rows={upgrades}
        columns={[
          { title: 'Since block', show: ({ blockNumber }) => formatCount(blockNumber) },
          {
            title: 'Implementation',
            show: ({ implementation, name }) => (
              <ImplementationLink
                href={`${base}contract/${chainId}/${implementation}`}
                address={implementation}
                name={name}
              />
            ),
          },
          {
            title: 'Match',
            show: ({ match, origin }) =>
              match === undefined ? (
                'not verified here'
              ) : (
                <MatchMark match={match} isClaimed={isClaim(origin)} />
              ),
          },
          {
            title: 'Changes',
            show: (upgrade, index) => (
              <Changes {...{ base, chainId, upgrade }} before={upgrades[index + 1]} />
            ),
          },
        ]}
      />
      {!isComplete && (
        <p class="quiet">
          {upgrades.length < UPGRADES_MAX
            ? unread
            : `There may be more: these are the newest ${UPGRADES_MAX} up to block ${formatCount(lastBlock)}.`}
        </p>
      )}
    </>
  );
}

/** Link to the comparison of an implementation with the one before, if both are verified here. */
function Changes({
  base,
  chainId,
  upgrade,
  before,
}: {
  readonly base: string;
  readonly chainId: string;
  readonly upgrade: Upgrade;
  readonly before: Upgrade | undefined;
}): VNode | null {
  if (before === undefined || upgrade.match === undefined || before.match === undefined) {
    return null;
  }
  const query = new URLSearchParams({ with: upgrade.implementation, on: chainId });
  return (
    <a href={`${base}compare/${chainId}/${before.implementation}?${query.toString()}`}>
      Compare with the one before
    </a>
  );
}
