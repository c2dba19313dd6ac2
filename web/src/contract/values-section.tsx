import { type VNode } from 'preact';
import { formatCount } from '../format.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { RecordTable } from '../parts/record-table.tsx';
import { type ChainValues, type ShownRows, type ValueRow } from './chain-values.ts';
import { CLAIMED_NOTE } from './verdict.ts';

const WHOLE = 1_000;
const UNPROVEN_NOTE = 'not proven, because no matching creation code is known';

/** Values of a contract that only the chain knows: its constructor arguments, its immutables and its libraries. */
export function ValuesSection({
  values: { constructorArguments: given, immutables, libraries },
  unproven,
  ...place
}: {
  readonly values: ChainValues;
  /** What the match does not prove, from the evidence. */
  readonly unproven: readonly string[];
  readonly base: string;
  readonly chainId: string;
}): VNode {
  return (
    <section aria-labelledby="values">
      <h2 id="values">Values</h2>
      {given !== undefined && (
        <>
          <h3>
            Constructor arguments <span class="count">{formatCount(given.bytes)} bytes</span>
          </h3>
          {unproven.includes('arguments') && <p class="quiet">{CLAIMED_NOTE}</p>}
          {given.rows === undefined ? (
            <p class="quiet">
              They cannot be decoded: the ABI does not describe them, the encoding is invalid, or
              there are more than 500. The full record has the bytes.
            </p>
          ) : (
            <Rows {...place} title="Constructor arguments" rows={given.rows} hasTypes />
          )}
          {given.rows !== undefined && (
            <More of={{ rows: given.rows, total: given.rows.length + given.more }} />
          )}
          {given.data !== undefined && (
            <p>
              <CopyButton text={given.data} what="the constructor arguments as hex" />
            </p>
          )}
        </>
      )}
      {immutables.total > 0 && (
        <>
          <h3>
            Immutables <span class="count">{formatCount(immutables.total)}</span>
          </h3>
          {unproven.includes('immutables') && <p class="quiet">{UNPROVEN_NOTE}</p>}
          <Rows {...place} title="Immutables" rows={immutables.rows} hasTypes />
          <More of={immutables} />
        </>
      )}
      {libraries.total > 0 && (
        <>
          <h3>
            Libraries <span class="count">{formatCount(libraries.total)}</span>
          </h3>
          {unproven.includes('libraries') && <p class="quiet">{UNPROVEN_NOTE}</p>}
          <Rows {...place} title="Libraries" rows={libraries.rows} />
          <More of={libraries} />
        </>
      )}
    </section>
  );
}

function More({ of: { rows, total } }: { readonly of: ShownRows }): VNode | null {
  if (total === rows.length) return null;
  return (
    <p class="quiet">
      And {formatCount(total - rows.length)} more; the full record has all of them.
    </p>
  );
}

function Rows({
  title,
  rows,
  hasTypes = false,
  base,
  chainId,
}: {
  readonly title: string;
  readonly rows: readonly ValueRow[];
  readonly hasTypes?: boolean;
  readonly base: string;
  readonly chainId: string;
}): VNode {
  return (
    <RecordTable
      label={title}
      rows={rows}
      columns={[
        {
          title: 'Name',
          show: ({ name }) =>
            name === '' ? <span class="quiet">no name</span> : <SafeText text={name} />,
        },
        ...(hasTypes
          ? [
              {
                title: 'Type',
                show: ({ type }: ValueRow) => (
                  <code>
                    <SafeText text={type} />
                  </code>
                ),
              },
            ]
          : []),
        {
          title: hasTypes ? 'Value' : 'Address',
          show: ({ value, isAddress }) => (
            <code>
              {isAddress ? (
                <a href={`${base}contract/${chainId}/${value}`}>{value}</a>
              ) : value === '' ? (
                <span class="quiet">empty</span>
              ) : (
                <SafeText text={value} most={WHOLE} />
              )}
            </code>
          ),
        },
      ]}
    />
  );
}
