import { type VNode } from 'preact';
import { formatCount } from '../format.ts';

const TITLES = {
  code: 'Code',
  abi: 'ABI',
  proof: 'Proof',
  downloads: 'Downloads',
  history: 'History',
} as const;

/** A part of the page of a contract. Each is a page of its own, so that each is light and works without scripts. */
export type Tab = keyof typeof TITLES;

const TABS = Object.keys(TITLES) as readonly Tab[];

/** The part that a query names; the code where it names none. */
export function tabOf(query: string): Tab {
  const named = new URLSearchParams(query).get('tab');
  return TABS.find((tab) => tab === named) ?? 'code';
}

/** Leads to the parts of the page. */
export function Tabs({
  current,
  counts,
}: {
  readonly current: Tab;
  /** How much a part holds, where that is known. */
  readonly counts: Partial<Readonly<Record<Tab, number>>>;
}): VNode {
  return (
    <nav class="tabs" aria-label="Parts of the contract" id="parts">
      <ul>
        {TABS.map((tab) => (
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
