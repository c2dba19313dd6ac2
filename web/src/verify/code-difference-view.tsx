import { type VNode } from 'preact';
import { compareCodes, differentRows, type ShownByte } from '../contract/code-difference.ts';
import { formatCount } from '../format.ts';

const RUNS_LISTED = 8;
const ROWS_SHOWN = 48;

const hexOffset = (offset: number): string => `0x${offset.toString(16).padStart(4, '0')}`;

/** Where two codes differ, in words and byte by byte. */
export function CodeDifferenceView({
  side,
  recompiled,
  onChain,
}: {
  readonly side: string;
  readonly recompiled: string;
  readonly onChain: string;
}): VNode {
  const difference = compareCodes(recompiled, onChain, RUNS_LISTED);
  const { recompiledBytes, onChainBytes, differentBytes, runs, runCount } = difference;
  const rows = differentRows(recompiled, onChain, ROWS_SHOWN);
  const id = side.toLowerCase().replaceAll(' ', '-');
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{side}, byte by byte</h2>
      <p>
        {differentBytes === 0
          ? 'Both codes are the same, byte for byte.'
          : `${formatCount(differentBytes)} of ${formatCount(Math.max(recompiledBytes, onChainBytes))} bytes differ.`}{' '}
        Recompiled: {formatCount(recompiledBytes)} bytes; on chain: {formatCount(onChainBytes)}{' '}
        bytes.
      </p>
      <p class="quiet">
        Immutables, addresses of libraries and the metadata hash at the end may differ in a match
        too; what differs beside them is what counts.
      </p>
      {runs.length > 0 && (
        <p>
          At{' '}
          {runs
            .map(({ offset, length }) => `${hexOffset(offset)} (${formatCount(length)})`)
            .join(', ')}
          {runCount > runs.length && ` and ${formatCount(runCount - runs.length)} places more`}.
        </p>
      )}
      {rows.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={`${side}, byte by byte`}>
          <table class="bytes">
            <caption>
              Bytes that differ are underlined. Rows without a difference are left out.
            </caption>
            <thead>
              <tr>
                <th scope="col">Offset</th>
                <th scope="col">Recompiled</th>
                <th scope="col">On chain</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr
                  key={row.offset}
                  class={
                    index > 0 && row.offset !== (rows[index - 1]?.offset ?? 0) + 16
                      ? 'gap'
                      : undefined
                  }
                >
                  <th scope="row">{hexOffset(row.offset)}</th>
                  <td>
                    <Bytes bytes={row.recompiled} />
                  </td>
                  <td>
                    <Bytes bytes={row.onChain} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Bytes({ bytes }: { readonly bytes: readonly ShownByte[] }): VNode {
  return (
    <code>
      {bytes.map(({ digits, differs }, index) => {
        const shown = digits === '' ? '··' : digits;
        const space = index < bytes.length - 1 ? ' ' : '';
        return differs ? (
          <>
            <mark key={index}>{shown}</mark>
            {space}
          </>
        ) : (
          `${digits === '' ? '  ' : digits}${space}`
        );
      })}
    </code>
  );
}
