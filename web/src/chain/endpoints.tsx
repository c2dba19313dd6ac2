import { type VNode } from 'preact';
import { formatAgo, formatCount, formatSpan, formatTime } from '../format.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { HealthMark } from '../parts/marks.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { type ChainHealth } from '../answers.ts';
import { type EndpointHealth, pairUrls } from './chain-data.ts';

/** Endpoints of a chain, with their states and the reasons. */
export function Endpoints({
  health,
  rpc,
  now,
}: {
  readonly health: ChainHealth;
  readonly rpc: readonly string[];
  readonly now: string;
}): VNode {
  const { state, since, reasons, endpoints } = health;
  const urls = pairUrls(endpoints, rpc);
  const isProbed = state !== 'not_probed';
  return (
    <>
      <p>
        <HealthMark state={state} />
        {since !== undefined && <span class="quiet"> since {formatTime(since)}</span>}
        {reasons.map(({ code, detail }) => (
          <span key={code}> · {detail}</span>
        ))}
      </p>
      {endpoints.length > 0 && (
        <TableRegion label="Endpoints">
          <table class="endpoints">
            <caption class="unseen">Endpoints, in order of use</caption>
            <thead>
              <tr>
                <th scope="col">Endpoint</th>
                {isProbed && (
                  <>
                    <th scope="col">State</th>
                    <th scope="col" class="figure">
                      Newest block
                    </th>
                    <th scope="col" class="figure">
                      Latency p50, p95
                    </th>
                    <th scope="col">Archive</th>
                    <th scope="col">Traces</th>
                    <th scope="col">Why</th>
                  </>
                )}
              </tr>
            </thead>
            <tbody>
              {endpoints.map((endpoint, index) => (
                <tr key={index}>
                  <th scope="row">
                    <code>{urls.get(endpoint) ?? endpoint.label}</code>{' '}
                    {!endpoint.public && <span class="tag">not published</span>}
                    {urls.has(endpoint) && (
                      <CopyButton
                        text={urls.get(endpoint) ?? ''}
                        what={`the URL of ${endpoint.label}`}
                      />
                    )}
                  </th>
                  {isProbed && <Probed endpoint={endpoint} now={now} />}
                </tr>
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
    </>
  );
}

function Probed({
  endpoint,
  now,
}: {
  readonly endpoint: EndpointHealth;
  readonly now: string;
}): VNode {
  const { state, since, head, lagBlocks, latency, archive, trace, reasons, checkedAt } = endpoint;
  return (
    <>
      <td>
        <HealthMark state={state} />
        {since !== undefined && state !== 'not_probed' && (
          <span class="quiet"> {formatSpan((Date.parse(now) - Date.parse(since)) / 1000)}</span>
        )}
      </td>
      <td class="figure">
        {head === undefined ? '–' : formatCount(head.number)}
        {lagBlocks !== undefined && lagBlocks > 0 && (
          <span class="quiet"> {formatCount(lagBlocks)} behind</span>
        )}
      </td>
      <td class="figure">
        {latency === undefined
          ? '–'
          : `${Math.round(latency.p50Ms)}, ${Math.round(latency.p95Ms)} ms`}
      </td>
      <td>{archive === 'unknown' ? '–' : archive}</td>
      <td>{trace === 'unknown' ? '–' : trace}</td>
      <td class="why">
        {reasons.map(({ detail }) => detail).join(' ')}
        {checkedAt !== undefined && <span class="quiet"> Asked {formatAgo(checkedAt, now)}.</span>}
      </td>
    </>
  );
}
