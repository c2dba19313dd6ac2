import { type VNode } from 'preact';
import { formatTime } from '../format.ts';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { type ContractEvent } from '../answers.ts';
import { type ContractData } from './contract-data.ts';
import { isClaim } from './is-claim.ts';
import { nameOrigin } from './verdict.ts';
import { WithdrawalReason } from './withdrawal-reason.tsx';

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
    <TableRegion label="History">
      <table>
        <caption class="unseen">History of the match, newest first</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">Match</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {events.map(({ eventNumber, at, kind, match, origin, reason }) => (
            <tr key={eventNumber}>
              <th scope="row">{formatTime(at)}</th>
              <td>{kind}</td>
              <td>
                {match !== null ? (
                  <MatchMark match={match} isClaimed={isClaim(origin)} />
                ) : kind === 'corrected' ? (
                  'as before'
                ) : (
                  <MatchMark match="withdrawn" />
                )}
              </td>
              <td>
                {reason === undefined ? nameOrigin(origin) : <WithdrawalReason reason={reason} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
