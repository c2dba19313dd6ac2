import { type ComponentChildren, type VNode } from 'preact';

/** Value of a field's `aria-describedby`: its hint, and its error if there is one. */
export function describedBy(id: string, fault: string | undefined): string {
  return `${id}-hint${fault === undefined ? '' : ` ${id}-fault`}`;
}

/** Hint and error of a field. */
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
