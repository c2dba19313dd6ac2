import { type VNode } from 'preact';
import { type ChainQuery, formatChainQuery } from './chain-query.ts';
import { type ChangeQuery } from './use-chain-query.ts';

/** What a link needs to apply another query, with or without scripts. */
export interface QueryLinks {
  readonly query: ChainQuery;
  /** Link to the table's page, relative to this page. */
  readonly action: string;
  readonly change: ChangeQuery | undefined;
}

/** Applies another query. */
export function QueryLink({
  action,
  change,
  to,
  isOn,
  children,
}: Omit<QueryLinks, 'query'> & {
  readonly to: ChainQuery;
  /** Whether its value is active; undefined for a link without a state. */
  readonly isOn?: boolean;
  readonly children: string;
}): VNode {
  const text = formatChainQuery(to);
  return (
    <a
      href={`${action}${text === '' ? '' : `?${text}`}`}
      aria-current={isOn === true ? 'true' : undefined}
      onClick={(event) => {
        const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
        if (change === undefined || !plain) return;
        event.preventDefault();
        change(to, 'chosen');
      }}
    >
      {children}
    </a>
  );
}
