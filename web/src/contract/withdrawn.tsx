import { type VNode } from 'preact';
import { formatAgo, formatTime } from '../format.ts';
import { type ViewProps } from '../page.ts';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { type ContractData, type WithdrawnFacts } from './contract-data.ts';
import { HiddenCharactersNotice } from './hidden-characters-notice.tsx';
import { HistorySection } from './history-section.tsx';
import { SourcesSection } from './sources-section.tsx';
import { Tabs } from './tabs.tsx';
import { WithdrawalReason } from '../parts/withdrawal-reason.tsx';

const TABS = ['code', 'history'] as const;

/** A contract whose match was withdrawn: the reason, and the sources to read. Nothing in it is verified. */
export function Withdrawn(
  props: ViewProps<ContractData> & { readonly facts: WithdrawnFacts },
): VNode {
  const { facts, data, request, context } = props;
  const { withdrawnAt, reason, match, isClaim, sources, hiddenIn } = facts;
  const current = data.tab === 'history' ? 'history' : 'code';
  const again = new URLSearchParams({
    chain: request.params['chain'] ?? '',
    address: facts.address,
  });
  return (
    <>
      <div class="verdict withdrawn">
        <p class="verdict-title">
          <MatchMark match="withdrawn" /> <span>Withdrawn</span>
        </p>
        <p>
          {isClaim ? `The claim of a ${match} match` : `The ${match} match`} was withdrawn{' '}
          <time dateTime={withdrawnAt} title={formatTime(withdrawnAt)}>
            {formatAgo(withdrawnAt, context.now)}
          </time>
          : <WithdrawalReason reason={reason} />
        </p>
        <p>
          This contract is not verified.{' '}
          {sources !== undefined && 'The withdrawn sources can still be read, but prove nothing.'}
        </p>
        {context.verify !== 'off' && (
          <p>
            <a class="button" href={`${context.base}verify?${again.toString()}`}>
              Verify again
            </a>
          </p>
        )}
      </div>
      <HiddenCharactersNotice parts={hiddenIn} files={sources?.files} />
      <Tabs
        tabs={TABS}
        current={current}
        counts={{ ...(sources !== undefined && { code: sources.total }) }}
      />
      {current === 'history' ? (
        <HistorySection events={data.events} />
      ) : (
        <SourcesSection of={facts} loaded={data.withdrawn} />
      )}
    </>
  );
}

/** Shown instead if the sources could not be read: the events contain the reason. */
export function WithdrawnUnread({
  data: { withdrawn, events },
}: Pick<ViewProps<ContractData>, 'data'>): VNode {
  return (
    <>
      <div class="verdict withdrawn">
        <p class="verdict-title">
          <MatchMark match="withdrawn" /> <span>Withdrawn</span>
        </p>
        <p>This contract is not verified: its match was withdrawn.</p>
      </div>
      {withdrawn?.state === 'failed' && <Failure what="The withdrawn match" loaded={withdrawn} />}
      <HistorySection events={events} />
    </>
  );
}
