import { type ComponentChildren, type VNode } from 'preact';

/** Holds a wide table: it scrolls sideways by itself, by the keyboard too, and the page does not. */
export function TableRegion({
  label,
  children,
}: {
  /** What the table is of; a region beside it may have the same name. */
  readonly label: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class="table-region" role="region" aria-label={`Table: ${label}`} tabIndex={0}>
      {children}
    </div>
  );
}
