import { type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { kindOfWords, MAX_WORDS } from '../contracts/contract-query.ts';
import { chainsPath, type FoundChains, matchesName, mayNameChain } from '../search/search-words.ts';
import { type ContractPage } from '../answers.ts';
import { useHydrated } from '../use-hydrated.ts';
import { Combobox } from './combobox.tsx';
import { SafeText } from './safe-text.tsx';

/** A suggestion: its link and its texts. */
interface Suggestion {
  /** Relative to the root of the API host. */
  readonly path: string;
  readonly name: string;
  readonly about: string;
}

const CHAINS = 4;
const CONTRACTS = 6;
const TYPING_MS = 150;
const FIELD_ID = 'site-search';

/**
 * The search of every page: it suggests chains and contracts during typing; without a selection it leads to
 * all results.
 */
export function SiteSearch({
  site,
  isOwnHost,
  words,
  isLarge = false,
}: {
  readonly site: string;
  /** Whether the page is on the API host: pages of the other host load nothing from elsewhere. */
  readonly isOwnHost: boolean;
  /** The text whose results the page shows. */
  readonly words: string;
  /** Whether it is the main part of its page. */
  readonly isLarge?: boolean;
}): VNode {
  const [text, setText] = useState(words);
  const [isOpen, setOpen] = useState(false);
  const found = useSuggestions(site, text.trim(), isOpen && isOwnHost);
  const isHydrated = useSlashKey();
  return (
    <form
      class={`site-search${isLarge ? ' large' : ''}`}
      role="search"
      aria-label="Site"
      action={`${site}search`}
    >
      <Combobox
        id={FIELD_ID}
        label="Search"
        name="q"
        placeholder="Address, name, chain, transaction …"
        maxLength={MAX_WORDS}
        text={text}
        choices={found.map(({ path, name, about }) => ({
          key: path,
          shown: (
            <>
              <SafeText text={name} /> <span class="quiet">{about}</span>
            </>
          ),
        }))}
        said={found.length === 0 ? '' : `${found.length} suggestions`}
        onOpen={setOpen}
        onType={setText}
        onTake={(path) => location.assign(`${site}${path}`)}
      />
      <button type="submit" aria-label="Find">
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path
            d="M11 11L14.5 14.5M7 12.2A5.2 5.2 0 1 1 7 1.8a5.2 5.2 0 0 1 0 10.4z"
            fill="none"
            stroke="currentColor"
            stroke-width="1.7"
            stroke-linecap="round"
          />
        </svg>
      </button>
      {isHydrated && <kbd aria-hidden="true">/</kbd>}
    </form>
  );
}

/**
 * Focuses the search on `/`, unless another field has focus.
 * @returns whether it does
 */
function useSlashKey(): boolean {
  const isHydrated = useHydrated();
  useEffect(() => {
    const lead = (event: KeyboardEvent): void => {
      const at = event.target as HTMLElement;
      const isTyping = at.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(at.tagName);
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      document.getElementById(FIELD_ID)?.focus();
    };
    document.addEventListener('keydown', lead);
    return () => document.removeEventListener('keydown', lead);
  }, []);
  return isHydrated;
}

/** Suggestions for the text, while the list is open. */
function useSuggestions(site: string, words: string, isOpen: boolean): readonly Suggestion[] {
  const [found, setFound] = useState<readonly Suggestion[]>([]);
  const turn = useRef(0);
  useEffect(() => {
    const asked = (turn.current += 1);
    if (!isOpen || words === '') {
      setFound([]);
      return undefined;
    }
    const timer = setTimeout(() => {
      void Promise.all([suggestChains(site, words), suggestContracts(site, words)]).then((each) => {
        if (turn.current === asked) setFound(each.flat());
      });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [site, words, isOpen]);
  return found;
}

/** A failed read is no suggestion: the form still leads to the search, which reports the error. */
async function read<Value>(url: string): Promise<Value | undefined> {
  try {
    const response = await fetch(url);
    return response.ok ? ((await response.json()) as Value) : undefined;
  } catch {
    return undefined;
  }
}

async function suggestChains(site: string, words: string): Promise<readonly Suggestion[]> {
  if (!mayNameChain(words)) return [];
  const found = await read<FoundChains>(`${site}${chainsPath(words, CHAINS)}`);
  const called = (found?.results ?? []).filter((chain) => matchesName(chain, words));
  return called.map(({ chainId, name }) => ({
    ...{ path: `registry/${chainId}`, name, about: `chain ${chainId}` },
  }));
}

async function suggestContracts(site: string, words: string): Promise<readonly Suggestion[]> {
  if (kindOfWords(words) === 'malformed') return [];
  const query = new URLSearchParams({ q: words, limit: String(CONTRACTS) });
  const found = await read<ContractPage>(`${site}v1/contracts/search?${query.toString()}`);
  return (found?.results ?? []).map(({ chainId, address, name }) => ({
    path: `contract/${chainId}/${address}`,
    name: name ?? 'no name',
    about: `${address.slice(0, 8)}…${address.slice(-4)} on chain ${chainId}`,
  }));
}
