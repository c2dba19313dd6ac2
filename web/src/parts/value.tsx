import { type VNode } from 'preact';
import { SafeText } from './safe-text.tsx';

/** Number of list items after which the rest is collapsed. */
const SHOWN = 5;

/** Any JSON value in readable form: lists as lists, web addresses as links, the rest as text. */
export function Value({ value }: { readonly value: unknown }): VNode {
  if (Array.isArray(value)) {
    if (value.length === 0) return <span class="quiet">none</span>;
    const list = (
      <ul class="values">
        {value.map((each: unknown, index) => (
          <li key={index}>
            <Value value={each} />
          </li>
        ))}
      </ul>
    );
    if (value.length <= SHOWN) return list;
    return (
      <details>
        <summary>{value.length} values</summary>
        {list}
      </details>
    );
  }
  if (typeof value === 'object' && value !== null) {
    return (
      <>
        {Object.entries(value).map(([key, each]: [string, unknown], index) => (
          <span key={key}>
            {index > 0 && ', '}
            <span class="quiet">{key}</span> <Value value={each} />
          </span>
        ))}
      </>
    );
  }
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>;
  return <TextOrLink text={String(value)} />;
}

/** A web address as a link, other text as text: untrusted data may not use other schemes. */
export function TextOrLink({
  text,
  name,
}: {
  readonly text: string;
  readonly name?: string;
}): VNode {
  const shown = <SafeText text={name ?? text} />;
  const isWeb = /^https?:\/\//i.test(text) && URL.canParse(text) && !text.includes('${');
  if (!isWeb) return shown;
  return (
    <a href={text} rel="noreferrer nofollow">
      {shown}
    </a>
  );
}
