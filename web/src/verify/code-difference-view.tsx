import { type VNode } from 'preact';
import {
  type ByteKind,
  compareCodes,
  differentRows,
  type ExplainedStretch,
  type ShownByte,
} from '../contract/code-difference.ts';
import { formatCount } from '../format.ts';
import { TableRegion } from '../parts/table-region.tsx';

const RUNS_LISTED = 8;
const ROWS_SHOWN = 48;

const KINDS: Readonly<Record<ByteKind, string>> = {
  code: 'the code itself',
  library: 'addresses of libraries',
  immutable: 'immutables',
  cborAuxdata: 'the metadata hash',
  callProtection: 'the library’s own address',
  constructorArguments: 'the constructor’s arguments',
};

const hexOffset = (offset: number): string => `0x${offset.toString(16).padStart(4, '0')}`;

/** How many bytes differ, and in what. */
function describeCounts(counts: ReadonlyMap<ByteKind, number>, longest: number): string {
  const differing = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (differing === 0) return 'Both codes are the same, byte for byte.';
  const parts = [...counts].map(([kind, count]) => `${formatCount(count)} in ${KINDS[kind]}`);
  return `${formatCount(differing)} of ${formatCount(longest)} bytes differ: ${parts.join(', ')}.`;
}

/** Where two codes differ, in words and byte by byte. */
export function CodeDifferenceView({
  side,
  recompiled,
  onChain,
  explained,
}: {
  readonly side: string;
  readonly recompiled: string;
  readonly onChain: string;
  readonly explained: readonly ExplainedStretch[];
}): VNode {
  const difference = compareCodes(recompiled, onChain, explained, RUNS_LISTED);
  const { recompiledBytes, onChainBytes, counts, runs, runCount } = difference;
  const rows = differentRows(recompiled, onChain, explained, ROWS_SHOWN);
  const id = side.toLowerCase().replaceAll(' ', '-');
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{side}, byte by byte</h2>
      <p>
        {describeCounts(counts, Math.max(recompiledBytes, onChainBytes))} Recompiled:{' '}
        {formatCount(recompiledBytes)} bytes; on chain: {formatCount(onChainBytes)} bytes.
      </p>
      {counts.has('code') && counts.size > 1 && (
        <p class="quiet">
          Only what differs in the code itself keeps the two from matching; the rest may differ.
        </p>
      )}
      {counts.has('code') && recompiledBytes !== onChainBytes && (
        <p class="quiet">
          Behind bytes that one code has and the other lacks, all that follows stands elsewhere and
          differs too: the first places tell the most.
        </p>
      )}
      {runs.length > 0 && (
        <p>
          The code itself differs at{' '}
          {runs
            .map(({ offset, length }) => `${hexOffset(offset)} (${formatCount(length)})`)
            .join(', ')}
          {runCount > runs.length && ` and ${formatCount(runCount - runs.length)} places more`}.
        </p>
      )}
      {rows.length > 0 && (
        <TableRegion label={`${side}, byte by byte`}>
          <table class="bytes">
            <caption>
              Bytes that differ are underlined, with dots where they may. Other rows are left out.
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
        </TableRegion>
      )}
    </section>
  );
}

function Bytes({ bytes }: { readonly bytes: readonly ShownByte[] }): VNode {
  return (
    <code>
      {bytes.map(({ digits, kind }, index) => {
        const shown = digits === '' ? '··' : digits;
        const space = index < bytes.length - 1 ? ' ' : '';
        return kind === undefined ? (
          `${digits === '' ? '  ' : digits}${space}`
        ) : (
          <>
            <mark key={index} class={kind === 'code' ? undefined : 'explained'} title={KINDS[kind]}>
              {shown}
            </mark>
            {space}
          </>
        );
      })}
    </code>
  );
}
