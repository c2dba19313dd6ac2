import { type ComponentChildren, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Combobox } from './combobox.tsx';
import { type ChainChoice } from './named-chain.ts';
import { SafeText } from './safe-text.tsx';

interface Props {
  readonly base: string;
  readonly label: string;
  readonly hint: ComponentChildren;
  /** Name of the text in a plain form submission. */
  readonly name?: string;
  /** Whether only supported chains can be selected. */
  readonly supported: boolean;
  readonly text: string;
  readonly fault?: string | undefined;
  /** The text, and the chain id it refers to: empty if it refers to none. */
  readonly onChange: (text: string, chainId: string, taken?: ChainChoice) => void;
}

const CHOICES_SHOWN = 12;
const TYPING_MS = 120;

interface Found {
  readonly choices: readonly ChainChoice[];
  /** Number of results, for screen readers. */
  readonly announcement: string;
}

/** Chains that match the text, while the list is open. */
function useChainChoices({ base, supported, text }: Props, isOpen: boolean): Found {
  const [found, setFound] = useState<Found>({ choices: [], announcement: '' });
  const asked = useRef(0);

  useEffect(() => {
    if (!isOpen) return undefined;
    const words = text.replace(/ \(\d+\)$/, '');
    const query = new URLSearchParams({
      fields: 'name,shortName',
      order: 'relevance',
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
          const announcement = matching === 1 ? '1 chain matches' : `${matching} chains match`;
          setFound({ choices: results, announcement });
        })
        .catch(() =>
          setFound({
            choices: [],
            announcement: 'The chains could not be loaded; type the chain id.',
          }),
        );
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, isOpen, base, supported]);
  return found;
}

/** Selects a chain by a part of its name or by its id. */
export function ChainField(props: Props): VNode {
  const { label, hint, name, text, fault, onChange } = props;
  const [isOpen, setOpen] = useState(false);
  const { choices, announcement } = useChainChoices(props, isOpen);
  return (
    <Combobox
      {...{ label, hint, name, text, fault }}
      id="chain"
      choices={choices.map(({ chainId, ...chain }) => ({
        key: String(chainId),
        shown: (
          <>
            <SafeText text={chain.name} /> <span class="quiet">{chainId}</span>
          </>
        ),
      }))}
      announcement={announcement}
      onOpen={setOpen}
      onType={(typed) => {
        const id = /^(?:eip155:)?(\d+)$/.exec(typed.trim())?.[1] ?? / \((\d+)\)$/.exec(typed)?.[1];
        onChange(typed, id ?? '');
      }}
      onTake={(id) => {
        const taken = choices.find(({ chainId }) => String(chainId) === id);
        if (taken !== undefined) onChange(`${taken.name} (${id})`, id, taken);
      }}
    />
  );
}
