import { type ComponentChildren, type VNode } from 'preact';

/** One name with what is known under it, in a list of facts. */
export function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
