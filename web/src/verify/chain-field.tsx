import { type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { SafeText } from '../parts/safe-text.tsx';

interface Choice {
  readonly chainId: number;
  readonly name: string;
  readonly shortName?: string;
}

interface Props {
  readonly base: string;
  readonly text: string;
  readonly fault: string | undefined;
  /** What was typed, and the id that it stands for: empty while it stands for none. */
  readonly onChange: (text: string, chainId: string) => void;
}

const CHOICES_SHOWN = 12;
const TYPING_MS = 120;

interface Found {
  readonly choices: readonly Choice[];
  /** How many there are, for those who do not see the list. */
  readonly said: string;
}

/** The supported chains that fit what was typed, while the list is open. */
function useChainChoices(base: string, text: string, isOpen: boolean, onFound: () => void): Found {
  const [found, setFound] = useState<Found>({ choices: [], said: '' });
  const asked = useRef(0);

  useEffect(() => {
    if (!isOpen) return undefined;
    const words = text.replace(/ \(\d+\)$/, '');
    const query = new URLSearchParams({
      supported: 'true',
      fields: 'name,shortName',
      limit: String(CHOICES_SHOWN),
      q: words.slice(0, 100),
    });
    const turn = (asked.current += 1);
    const timer = setTimeout(() => {
      fetch(`${base}v1/chains?${query.toString()}`)
        .then((response) => response.json() as Promise<{ results: Choice[]; matching: number }>)
        .then(({ results, matching }) => {
          if (asked.current !== turn) return;
          const said = matching === 1 ? '1 chain fits' : `${matching} chains fit`;
          setFound({ choices: results, said });
          onFound();
        })
        .catch(() =>
          setFound({ choices: [], said: 'Chains could not be read; type the id of the chain.' }),
        );
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, isOpen, base]);
  return found;
}

/** Chooses a supported chain: type a part of its name or its id, walk by the arrow keys, take it by Enter. */
export function ChainField({ base, text, fault, onChange }: Props): VNode {
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const { choices, said } = useChainChoices(base, text, isOpen, () => setActive(-1));

  const take = (choice: Choice): void => {
    onChange(`${choice.name} (${choice.chainId})`, String(choice.chainId));
    setOpen(false);
    setActive(-1);
  };
  const type = (value: string): void => {
    const id = /^(?:eip155:)?(\d+)$/.exec(value.trim())?.[1] ?? / \((\d+)\)$/.exec(value)?.[1];
    onChange(value, id ?? '');
    setOpen(true);
  };
  const walk = (event: KeyboardEvent): void => {
    const chosen = choices[active];
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const count = choices.length;
      if (count > 0) setActive((active + step + count + (active < 0 && step < 0 ? 1 : 0)) % count);
    } else if (event.key === 'Enter' && isOpen && chosen !== undefined) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === 'Escape' && isOpen) {
      setOpen(false);
      setActive(-1);
    }
  };
  const shown = isOpen && choices.length > 0;
  return (
    <div class="field combobox">
      <label for="chain">Chain</label>
      <input
        id="chain"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={shown}
        aria-controls="chain-choices"
        aria-activedescendant={shown && active >= 0 ? `chain-choice-${active}` : undefined}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? 'chain-hint' : 'chain-fault'}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={walk}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
      />
      <ul id="chain-choices" role="listbox" aria-label="Chains" hidden={!shown}>
        {choices.map((choice, index) => (
          <li
            key={choice.chainId}
            id={`chain-choice-${index}`}
            role="option"
            aria-selected={index === active}
            // The field keeps the focus, so that its list is still there when the button comes up.
            onMouseDown={(event) => {
              event.preventDefault();
              take(choice);
            }}
          >
            <SafeText text={choice.name} /> <span class="quiet">{choice.chainId}</span>
          </li>
        ))}
      </ul>
      <p class="hint" id="chain-hint">
        A name, a short name or an id, such as <kbd>sepolia</kbd> or <kbd>1</kbd>.
      </p>
      {fault !== undefined && (
        <p class="fault" id="chain-fault">
          {fault}
        </p>
      )}
      <p class="unseen" aria-live="polite">
        {isOpen ? said : ''}
      </p>
    </div>
  );
}
