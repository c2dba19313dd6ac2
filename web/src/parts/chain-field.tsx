import { type ComponentChildren, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { SafeText } from './safe-text.tsx';
import './chain-field.css';

/** A chain that can be chosen. */
export interface ChainChoice {
  readonly chainId: number;
  readonly name: string;
  readonly shortName?: string;
}

interface Props {
  readonly base: string;
  readonly label: string;
  readonly hint: ComponentChildren;
  /** By which a form sends the text itself. */
  readonly name?: string;
  /** Whether only supported chains can be chosen. */
  readonly supported: boolean;
  readonly text: string;
  readonly fault?: string | undefined;
  /** What was typed or taken from the list, and the id that it stands for: empty while it stands for none. */
  readonly onChange: (text: string, chainId: string, taken?: ChainChoice) => void;
}

const CHOICES_SHOWN = 12;
const TYPING_MS = 120;

interface Found {
  readonly choices: readonly ChainChoice[];
  /** How many there are, for those who do not see the list. */
  readonly said: string;
}

/** The chains that fit what was typed, while the list is open. */
function useChainChoices(
  { base, supported, text }: Props,
  isOpen: boolean,
  onFound: () => void,
): Found {
  const [found, setFound] = useState<Found>({ choices: [], said: '' });
  const asked = useRef(0);

  useEffect(() => {
    if (!isOpen) return undefined;
    const words = text.replace(/ \(\d+\)$/, '');
    const query = new URLSearchParams({
      fields: 'name,shortName',
      limit: String(CHOICES_SHOWN),
      q: words.slice(0, 100),
      ...(supported && { supported: 'true' }),
    });
    const turn = (asked.current += 1);
    const timer = setTimeout(() => {
      fetch(`${base}v1/chains?${query.toString()}`)
        .then(
          (response) => response.json() as Promise<{ results: ChainChoice[]; matching: number }>,
        )
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
  }, [text, isOpen, base, supported]);
  return found;
}

/** Chooses a chain: type a part of its name or its id, walk by the arrow keys, take it by Enter. */
export function ChainField(props: Props): VNode {
  const { label, hint, name, text, fault, onChange } = props;
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const { choices, said } = useChainChoices(props, isOpen, () => setActive(-1));

  const take = (choice: ChainChoice): void => {
    onChange(`${choice.name} (${choice.chainId})`, String(choice.chainId), choice);
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
      <label for="chain">{label}</label>
      <input
        id="chain"
        name={name}
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
        {hint}
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
