import { type ComponentChildren, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { describedBy, FieldNotes } from './field-notes.tsx';
import './combobox.css';

/** A selectable option. */
interface Choice {
  readonly key: string;
  /** Heading of its group; options of a group are consecutive. */
  readonly group?: string;
  readonly shown: ComponentChildren;
}

interface Props {
  readonly id: string;
  readonly label: string;
  /** Hint in the field; absent if the label is for screen readers only. */
  readonly hint?: ComponentChildren;
  readonly placeholder?: string;
  readonly maxLength?: number;
  /** Name of the text in a plain form submission. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly fault?: string | undefined;
  /** Options that match the text; called while the list is open. */
  readonly choices: readonly Choice[];
  /** Number of options, for screen readers. */
  readonly announcement: string;
  /** Message in place of the options. */
  readonly note?: string;
  readonly onOpen?: (isOpen: boolean) => void;
  readonly onType: (text: string) => void;
  readonly onTake: (key: string) => void;
}

// Focus stays in the field, so nothing else scrolls the list.
const showWhole = (option: HTMLElement | null): void =>
  option?.scrollIntoView({ block: 'nearest' });

/** A field with suggestions: type a part, move with the arrow keys, select with Enter (ARIA combobox). */
export function Combobox(props: Props): VNode {
  const { id, label, hint, name, placeholder, maxLength, text, fault } = props;
  const { choices, announcement, note = '', onOpen, onType, onTake } = props;
  const isBare = hint === undefined;
  const [isOpen, setOpenState] = useState(false);
  // The active option is tracked by its key: its neighbours change during typing.
  const [activeKey, setActiveKey] = useState<string>();
  const active = choices.findIndex(({ key }) => key === activeKey);

  const setOpen = (next: boolean): void => {
    setOpenState(next);
    if (!next) setActiveKey(undefined);
    onOpen?.(next);
  };
  const take = (key: string): void => {
    onTake(key);
    setOpen(false);
  };
  const walk = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const next = event.key === 'ArrowDown' ? active + 1 : active < 0 ? -1 : active - 1;
      setActiveKey(choices.at(next % Math.max(1, choices.length))?.key);
    } else if (event.key === 'Enter' && isOpen && activeKey !== undefined && active >= 0) {
      event.preventDefault();
      take(activeKey);
    } else if (event.key === 'Escape' && isOpen) setOpen(false);
  };
  const isShown = isOpen && choices.length > 0;
  return (
    <div class="field combobox">
      <label for={id} class={isBare ? 'unseen' : undefined}>
        {label}
      </label>
      <input
        id={id}
        name={name}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={`${id}-choices`}
        aria-activedescendant={isShown && active >= 0 ? `${id}-choice-${active}` : undefined}
        aria-invalid={fault !== undefined}
        aria-describedby={isBare ? undefined : describedBy(id, fault)}
        placeholder={placeholder}
        maxLength={maxLength}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          onType(event.currentTarget.value);
          setOpen(true);
        }}
        onKeyDown={walk}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
      />
      <div id={`${id}-choices`} role="listbox" aria-label={label} hidden={!isShown}>
        <Options id={id} choices={choices} active={active} take={take} />
      </div>
      {isOpen && choices.length === 0 && note !== '' && (
        <p class="choices-note" aria-hidden="true">
          {note}
        </p>
      )}
      {!isBare && <FieldNotes id={id} hint={hint} fault={fault} />}
      <p class="unseen" aria-live="polite">
        {isOpen ? announcement || note : ''}
      </p>
    </div>
  );
}

interface OptionsProps {
  readonly id: string;
  readonly choices: readonly Choice[];
  /** Position of the active option; -1 for none. */
  readonly active: number;
  readonly take: (key: string) => void;
}

/** The options, with a heading above each group, which screen readers announce with its first option. */
function Options({ id, choices, active, take }: OptionsProps): VNode {
  const optionOf = ({ key, shown }: Choice): VNode => {
    const index = choices.findIndex((choice) => choice.key === key);
    return (
      <div
        key={key}
        id={`${id}-choice-${index}`}
        role="option"
        aria-selected={index === active}
        ref={index === active ? showWhole : null}
        // The field keeps focus, so that the list is still open when the button is released.
        onMouseDown={(event) => {
          event.preventDefault();
          take(key);
        }}
      >
        {shown}
      </div>
    );
  };
  const groups = [...new Set(choices.map(({ group }) => group))];
  return (
    <>
      {groups.map((group, at) => {
        const options = choices.filter((choice) => choice.group === group).map(optionOf);
        if (group === undefined) return options;
        const heading = `${id}-group-${at}`;
        return (
          <div key={group} role="group" aria-labelledby={heading}>
            <div id={heading} role="presentation" class="choices-heading">
              {group}
            </div>
            {options}
          </div>
        );
      })}
    </>
  );
}
