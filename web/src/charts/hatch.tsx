import { type VNode } from 'preact';

/** Fill of a hatched bar. */
export const hatched = (id: string): string => `url(#${id})`;

/** A hatch pattern in the colour of a series, so that bars differ without colour. */
export function Hatch({ id, look }: { readonly id: string; readonly look: string }): VNode {
  return (
    <pattern id={id} class={look} width="4" height="4" patternUnits="userSpaceOnUse">
      <path d="M0 1H4" stroke="currentColor" stroke-width="2" />
    </pattern>
  );
}
