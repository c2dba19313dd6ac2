import { type VNode } from 'preact';
import {
  type ByteKind,
  type CodeRow,
  type ComparedCodes,
  compareCodes,
  countBytes,
  type DifferenceSort,
  differentRows,
  type DifferenceLocation,
  type ExpectedRange,
  findLocations,
  type ShownByte,
} from '../contract/code-difference.ts';
import { formatCount } from '../format.ts';
import { TableRegion } from '../parts/table-region.tsx';

const PLACES_LISTED = 8;
const ROWS_SHOWN = 48;

const KINDS: Readonly<Record<ByteKind, string>> = {
  code: 'the code itself',
  library: 'addresses of libraries',
  immutable: 'immutables',
  cborAuxdata: 'the metadata hash',
  callProtection: 'the library’s own address',
  constructorArguments: 'the constructor’s arguments',
};

/** Labels of the kinds of changed bytes. */
const SORTS: Readonly<Record<DifferenceSort, string>> = {
  changed: 'changed',
  inserted: 'inserted on chain',
  missing: 'missing on chain',
};

/** Maximum number of bytes that are compared, whatever a response contains. */
const WINDOW_MAX_BYTES = 65_536;

/** Ranges of the bytecode as seen in a window that starts at an offset. */
function inWindow(explained: readonly ExpectedRange[], from: number): ExpectedRange[] {
  return explained.flatMap(({ reason, offset, length }) => {
    const begin = Math.max(0, offset - from);
    const end = offset + length - from;
    return end <= begin ? [] : [{ reason, offset: begin, length: end - begin }];
  });
}

function movePlace<Place extends { readonly recompiledAt: number; readonly onChainAt: number }>(
  place: Place,
  offset: number,
): Place {
  const { recompiledAt, onChainAt } = place;
  return { ...place, recompiledAt: recompiledAt + offset, onChainAt: onChainAt + offset };
}

const hexOffset = (offset: number): string => `0x${offset.toString(16).padStart(4, '0')}`;

/** Number of bytes that differ, by kind and cause. */
function describeCounts(compared: ComparedCodes): string {
  const parts = (Object.keys(SORTS) as DifferenceSort[]).flatMap((sort) => {
    const counts = [...countBytes(compared, sort)];
    const sum = counts.reduce((total, [, count]) => total + count, 0);
    const kinds = counts.map(([kind, count]) => `${formatCount(count)} in ${KINDS[kind]}`);
    return sum === 0 ? [] : [`${formatCount(sum)} ${SORTS[sort]} (${kinds.join(', ')})`];
  });
  return parts.length === 0
    ? 'Both bytecodes are identical.'
    : `Bytes that differ: ${parts.join('; ')}.`;
}

/**
 * A location by its offsets in both bytecodes, and the number of differing bytes: `0x0010 (on chain 0x0012):
 * 2 changed`.
 */
function describePlace({ recompiledAt, onChainAt, bytes }: DifferenceLocation): string {
  const other = recompiledAt === onChainAt ? '' : ` (on chain ${hexOffset(onChainAt)})`;
  const counts = (Object.keys(SORTS) as DifferenceSort[])
    .filter((sort) => bytes[sort] > 0)
    .map((sort) => `${formatCount(bytes[sort])} ${SORTS[sort]}`);
  return `${hexOffset(recompiledAt)}${other}: ${counts.join(', ')}`;
}

/** An excerpt of bytecode in hex, and the size of the whole. */
export interface CodeWindow {
  readonly bytes: number;
  readonly sha256: string;
  readonly window: string;
}

/** Input of a comparison: windows that start at the same offset of both bytecodes. */
interface ComparedWindows {
  /** Offset of both windows in their bytecodes. */
  readonly offset: number;
  readonly recompiled: CodeWindow;
  readonly onChain: CodeWindow;
  readonly explained: readonly ExpectedRange[];
}

interface ShownDifference {
  readonly counts: string;
  readonly isExplained: boolean;
  readonly places: readonly DifferenceLocation[];
  readonly rows: readonly CodeRow[];
}

const KEPT_DIFFERENCES = 32;
/** The last comparison with its inputs: a server renders the same job repeatedly. */
const kept = new Map<string, ShownDifference>();

/** Compares two windows; caches the last result. */
function compareWindows(windows: ComparedWindows): ShownDifference {
  const { offset, recompiled, onChain, explained } = windows;
  const sides = [recompiled, onChain].map(({ sha256, window }) => [sha256, window.length]);
  const key = JSON.stringify([offset, sides, explained]);
  const known = kept.get(key);
  kept.delete(key);
  const difference = known ?? makeDifference(windows);
  kept.set(key, difference);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_DIFFERENCES && oldest !== undefined) kept.delete(oldest);
  return difference;
}

function makeDifference(windows: ComparedWindows): ShownDifference {
  const { offset, explained } = windows;
  const [left, right] = [windows.recompiled, windows.onChain].map(({ window }) =>
    window.slice(0, 2 + 2 * WINDOW_MAX_BYTES),
  ) as [string, string];
  const compared = compareCodes(left, right, inWindow(explained, offset));
  return {
    counts: describeCounts(compared),
    isExplained: compared.stretches.some(({ kind }) => kind !== 'code'),
    places: findLocations(compared).map((place) => movePlace(place, offset)),
    rows: differentRows(compared, ROWS_SHOWN).map((row) => movePlace(row, offset)),
  };
}

const windowBytes = ({ window }: CodeWindow): number => (window.length - 2) / 2;

/** Where two bytecodes differ, as text and byte by byte, within the known windows. */
export function CodeDifferenceView({
  side,
  ...windows
}: ComparedWindows & { readonly side: string }): VNode {
  const { offset, recompiled, onChain } = windows;
  const { counts, isExplained, places, rows } = compareWindows(windows);
  const isWhole =
    windowBytes(recompiled) === recompiled.bytes && windowBytes(onChain) === onChain.bytes;
  const isShifted = places.some(({ bytes }) => bytes.inserted > 0 || bytes.missing > 0);
  const id = side.toLowerCase().replaceAll(' ', '-');
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{side}, byte by byte</h2>
      <p>
        {counts} Recompiled: {formatCount(recompiled.bytes)} bytes; on chain:{' '}
        {formatCount(onChain.bytes)} bytes.
      </p>
      {!isWhole && (
        <p class="quiet">
          The bytecode is too large to be stored completely. These are the bytes from{' '}
          {formatCount(offset)} on, around the first difference:{' '}
          {formatCount(windowBytes(recompiled))} bytes of the recompiled code and{' '}
          {formatCount(windowBytes(onChain))} of the code on chain. Their SHA-256 hashes:{' '}
          <code>{recompiled.sha256}</code> recompiled, <code>{onChain.sha256}</code> on chain.
        </p>
      )}
      {places.length > 0 && isExplained && (
        <p class="quiet">
          Only differences in the code itself prevent a match; the others are allowed.
        </p>
      )}
      {isShifted && (
        <p class="quiet">Equal bytes are aligned. An insertion also shifts later jump targets.</p>
      )}
      {places.length > 0 && (
        <>
          <p>The code itself differs at</p>
          <ul>
            {places.slice(0, PLACES_LISTED).map((place) => (
              <li key={`${place.recompiledAt} ${place.onChainAt}`}>{describePlace(place)}</li>
            ))}
            {places.length > PLACES_LISTED && (
              <li>and {formatCount(places.length - PLACES_LISTED)} more</li>
            )}
          </ul>
        </>
      )}
      {rows.length > 0 && <ByteTable label={`${side}, byte by byte`} rows={rows} />}
    </section>
  );
}

function ByteTable({
  label,
  rows,
}: {
  readonly label: string;
  readonly rows: readonly CodeRow[];
}): VNode {
  return (
    <TableRegion label={label}>
      <table class="bytes">
        <caption>
          Changed bytes are underlined; dots mark bytes that may differ. Bytes that only one code
          has are framed; the other has <code>--</code> there. Identical rows and the middle of long
          stretches are omitted.
        </caption>
        <thead>
          <tr>
            <th scope="col">Offset</th>
            <th scope="col">Recompiled</th>
            <th scope="col">Offset</th>
            <th scope="col">On chain</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ recompiledAt, onChainAt, isBehindGap, ...row }) => (
            <tr key={`${recompiledAt} ${onChainAt}`} class={isBehindGap ? 'gap' : undefined}>
              <th scope="row">{hexOffset(recompiledAt)}</th>
              <td>
                <Bytes bytes={row.recompiled} />
              </td>
              <td class="offset">{hexOffset(onChainAt)}</td>
              <td>
                <Bytes bytes={row.onChain} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}

function Bytes({ bytes }: { readonly bytes: readonly ShownByte[] }): VNode {
  return (
    <code>
      {bytes.map((byte, index) => (
        <>
          {byte.sort === 'equal' ? byte.digits : <DifferentByte {...byte} sort={byte.sort} />}
          {index < bytes.length - 1 && ' '}
        </>
      ))}
    </code>
  );
}

function DifferentByte({
  digits,
  sort,
  kind,
}: ShownByte & { readonly sort: DifferenceSort }): VNode {
  const classes = [kind !== 'code' && 'explained', sort !== 'changed' && digits !== '' && 'alone'];
  return (
    <mark class={classes.filter(Boolean).join(' ')} title={`${SORTS[sort]}, in ${KINDS[kind]}`}>
      {digits === '' ? '--' : digits}
    </mark>
  );
}
