import { type ComponentChildren, type VNode } from 'preact';

/** What the `aria-describedby` of a field names: its hint, and its fault where there is one. */
export function describedBy(id: string, fault: string | undefined): string {
  return `${id}-hint${fault === undefined ? '' : ` ${id}-fault`}`;
}

/** What is expected of a field, and what is wrong with it. */
export function FieldNotes({
  id,
  hint,
  fault,
}: {
  /** The id of the field. */
  readonly id: string;
  readonly hint: ComponentChildren;
  readonly fault: string | undefined;
}): VNode {
  return (
    <>
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </>
  );
}
