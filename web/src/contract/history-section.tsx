import { type VNode } from 'preact';
import { formatTime } from '../format.ts';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { RecordTable } from '../parts/record-table.tsx';
import { type ContractEvent } from '../answers.ts';
import { type ContractData } from './contract-data.ts';
import { isClaim } from './is-claim.ts';
import { nameOrigin } from './verdict.ts';
import { WithdrawalReason } from '../parts/withdrawal-reason.tsx';

/** History of a contract's match. */
export function HistorySection({
  events,
}: {
  readonly events: ContractData['events'];
}): VNode | null {
  const isEmpty = events?.state === 'ready' && events.value.results.length === 0;
  if (events === undefined || isEmpty) return null;
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      {events.state === 'ready' ? (
        <EventTable events={events.value.results} />
      ) : (
        <Failure what="History" loaded={events} />
      )}
    </section>
  );
}

function EventTable({ events }: { readonly events: readonly ContractEvent[] }): VNode {
  return (
    <RecordTable
      label="History of the match, newest first"
      rows={events}
      columns={[
        { title: 'When', className: 'time', show: ({ at }) => formatTime(at) },
        { title: 'What', show: ({ kind }) => kind },
        { title: 'Match', show: showMatch },
        {
          title: 'Why',
          show: ({ reason, origin }) =>
            reason === undefined ? nameOrigin(origin) : <WithdrawalReason reason={reason} />,
        },
      ]}
    />
  );
}

function showMatch({ match, kind, origin }: ContractEvent): VNode | string {
  if (match !== null) return <MatchMark match={match} isClaimed={isClaim(origin)} />;
  return kind === 'corrected' ? 'as before' : <MatchMark match="withdrawn" />;
}
