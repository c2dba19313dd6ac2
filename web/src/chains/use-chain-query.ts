import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ChainQuery, formatChainQuery, parseChainQuery } from './chain-query.ts';

/** Applies another query. `typed` ones replace the history entry, others add one. */
export type ChangeQuery = (query: ChainQuery, how: 'typed' | 'chosen') => void;

/** Browsers throttle URL changes on each keystroke. */
const TYPING_MS = 300;

/** Query of the table: initialised from the URL, which is then kept in sync. */
export function useChainQuery(query: string): readonly [ChainQuery, ChangeQuery] {
  const [current, setCurrent] = useState(() => parseChainQuery(query));
  const timer = useRef<number>(0);
  useEffect(() => {
    const follow = (): void => setCurrent(parseChainQuery(location.search.slice(1)));
    addEventListener('popstate', follow);
    return () => {
      removeEventListener('popstate', follow);
      clearTimeout(timer.current);
    };
  }, []);
  const change = useCallback<ChangeQuery>((next, how) => {
    setCurrent(next);
    clearTimeout(timer.current);
    const text = formatChainQuery(next);
    const url = `${location.pathname}${text === '' ? '' : `?${text}`}`;
    if (how === 'chosen') history.pushState(null, '', url);
    else {
      timer.current = window.setTimeout(() => history.replaceState(null, '', url), TYPING_MS);
    }
  }, []);
  return [current, change];
}
