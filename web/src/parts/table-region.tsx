import { type ComponentChildren, type VNode } from 'preact';

/** Container of a wide table: it scrolls horizontally by itself, also by keyboard, and the page does not. */
export function TableRegion({
  label,
  children,
}: {
  /** The accessible name. A region next to the table may have the same one. */
  readonly label: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class="table-region" role="region" aria-label={`Table: ${label}`} tabIndex={0}>
      {children}
    </div>
  );
}
