import { type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { cutWords, MAX_SEARCH } from '../search/search-words.ts';
import { GROUP_NAMES } from '../search/search-groups.ts';
import type { Suggestions } from '../search/suggest.ts';
import { useHydrated } from '../use-hydrated.ts';
import { Combobox } from './combobox.tsx';
import { SafeText } from './safe-text.tsx';

const TYPING_MS = 150;
const FIELD_ID = 'site-search';
const NO_SUGGESTIONS: Suggestions = { list: [], note: '' };

/**
 * The search of every page: it suggests results in groups during typing; without a selection it leads to all
 * results.
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
  const { list, note } = useSuggestions(site, cutWords(text), isOpen && isOwnHost);
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
        maxLength={MAX_SEARCH}
        text={text}
        choices={list.map(({ group, path, name, about }) => ({
          key: path,
          group: GROUP_NAMES[group],
          shown: (
            <>
              <SafeText text={name} /> <span class="quiet">{about}</span>
            </>
          ),
        }))}
        announcement={list.length === 0 ? '' : countSuggestions(list.length)}
        note={note}
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

const countSuggestions = (count: number): string =>
  count === 1 ? '1 suggestion' : `${count} suggestions`;

/** Suggestions for the text, while the list is open. */
function useSuggestions(site: string, words: string, isOpen: boolean): Suggestions {
  const [found, setFound] = useState(NO_SUGGESTIONS);
  const turn = useRef(0);
  useEffect(() => {
    const asked = (turn.current += 1);
    if (!isOpen || words === '') {
      setFound(NO_SUGGESTIONS);
      return undefined;
    }
    const api = createApi((path) => fetch(`${site}${path}`));
    const search = async (): Promise<void> => {
      // Loaded on the first key press: most visitors do not search.
      const { suggest } = await import('../search/suggest.ts');
      const suggestions = await suggest(api, words);
      if (turn.current === asked) setFound(suggestions);
    };
    // Without the module there are no suggestions; the search page works anyway.
    const timer = setTimeout(() => void search().catch(() => undefined), TYPING_MS);
    return () => clearTimeout(timer);
  }, [site, words, isOpen]);
  return found;
}
