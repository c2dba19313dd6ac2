import { type ComponentChildren, type VNode } from 'preact';
import { TableRegion } from './table-region.tsx';

/** A column of a {@link RecordTable}. */
export interface Column<Row> {
  readonly title: string;
  /** Class of its cells; `figure` aligns numbers. */
  readonly className?: string;
  readonly show: (row: Row, index: number) => ComponentChildren;
}

interface Props<Row> {
  /** The accessible name, also used as the caption unless another is given. */
  readonly label: string;
  readonly caption?: string | undefined;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

/**
 * A table whose rows are cards on narrow screens, where each cell is a line with its column's name. The roles are
 * those of a table, which browsers drop when its elements are displayed as blocks.
 */
export function RecordTable<Row>({ label, caption, columns, rows }: Props<Row>): VNode {
  return (
    <TableRegion label={label}>
      <table class="cards records" role="table">
        <caption class={caption === undefined ? 'unseen' : undefined}>{caption ?? label}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, className }) => (
              <th key={title} role="columnheader" scope="col" class={className}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, index) => (
            <tr key={index} role="row">
              {columns.map(({ title, className, show }, column) => {
                const cell = { key: title, 'data-label': title, class: className };
                // One element per cell, because a card puts it next to the column's name.
                const content = <span>{show(row, index)}</span>;
                return column === 0 ? (
                  <th {...cell} role="rowheader" scope="row">
                    {content}
                  </th>
                ) : (
                  <td {...cell} role="cell">
                    {content}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
