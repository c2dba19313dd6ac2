import { type ComponentChildren, type TargetedKeyboardEvent, type VNode } from 'preact';
import { useState } from 'preact/hooks';

/** One way to bring a compilation. */
interface InputTab {
  readonly key: string;
  readonly title: string;
  readonly panel: ComponentChildren;
}

/** The id of the tab that is chosen: it takes the focus where a field of a hidden panel would. */
export const CHOSEN_TAB = 'chosen-input';

/**
 * Shows one of several ways at a time (ARIA's tabs): arrow keys choose, Tab leads into the panel. What was brought by another way
 * stays.
 */
export function InputTabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly InputTab[];
}): VNode {
  const [chosen, setChosen] = useState(tabs[0]?.key);
  const walk = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const at = tabs.findIndex(({ key }) => key === chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + tabs.length) % tabs.length;
    setChosen(tabs[next]?.key);
    // At once: a focus that moves later takes the place of where the next key led.
    event.currentTarget.querySelectorAll('button')[next]?.focus();
  };
  return (
    <>
      <div class="input-tabs" role="tablist" aria-label={label} onKeyDown={walk}>
        {tabs.map(({ key, title }) => (
          <button
            key={key}
            type="button"
            role="tab"
            {...(key === chosen && { id: CHOSEN_TAB })}
            aria-selected={key === chosen}
            aria-controls={`input-${key}`}
            tabIndex={key === chosen ? 0 : -1}
            onClick={() => setChosen(key)}
          >
            {title}
          </button>
        ))}
      </div>
      {tabs.map(({ key, title, panel }) => (
        <div
          key={key}
          id={`input-${key}`}
          class="input-panel"
          role="tabpanel"
          aria-label={title}
          hidden={key !== chosen}
        >
          {panel}
        </div>
      ))}
    </>
  );
}
