import { type VNode } from 'preact';
import { formatCount } from '../format.ts';

const TITLES = {
  code: 'Code',
  abi: 'ABI',
  proof: 'Proof',
  downloads: 'Downloads',
  history: 'History',
} as const;

/** A tab of a contract page. Each is a separate page, so that each is light and works without scripts. */
export type Tab = keyof typeof TITLES;

const TABS = Object.keys(TITLES) as readonly Tab[];

/** The tab in a query; the code by default. */
export function tabOf(query: string): Tab {
  const named = new URLSearchParams(query).get('tab');
  return TABS.find((tab) => tab === named) ?? 'code';
}

/** Links to the tabs of the page. */
export function Tabs({
  tabs = TABS,
  current,
  counts,
}: {
  /** By default all. */
  readonly tabs?: readonly Tab[];
  readonly current: Tab;
  /** Number of items in a tab, if known. */
  readonly counts: Partial<Readonly<Record<Tab, number>>>;
}): VNode {
  return (
    <nav class="tabs" aria-label="Parts of the contract" id="parts">
      <ul>
        {tabs.map((tab) => (
          <li key={tab}>
            <a
              href={tab === 'code' ? '?#parts' : `?tab=${tab}#parts`}
              aria-current={tab === current ? 'page' : undefined}
            >
              {TITLES[tab]}
              {counts[tab] !== undefined && <span class="count"> {formatCount(counts[tab])}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
