import { type VNode } from 'preact';
import { type ChainQuery, formatChainQuery } from './chain-query.ts';
import { type ChangeQuery } from './use-chain-query.ts';

/** What a link needs to show another query, by itself and at once where scripts run. */
export interface QueryLinks {
  readonly query: ChainQuery;
  /** The page of the table, as a link from this page. */
  readonly action: string;
  readonly change: ChangeQuery | undefined;
}

/** Shows the table of another query. */
export function QueryLink({
  action,
  change,
  to,
  isOn,
  children,
}: Omit<QueryLinks, 'query'> & {
  readonly to: ChainQuery;
  /** Whether what it stands for is chosen; undefined for a link that is no choice. */
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
