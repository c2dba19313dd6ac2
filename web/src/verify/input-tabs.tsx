import { type ComponentChildren, type TargetedKeyboardEvent, type VNode } from 'preact';
import { useState } from 'preact/hooks';

/** A kind of input for a compilation. */
interface InputTab {
  readonly key: string;
  readonly title: string;
  readonly panel: ComponentChildren;
}

/** Id of the selected tab, which receives focus instead of a field in a hidden panel. */
export const CHOSEN_TAB = 'chosen-input';

/**
 * Shows one of several panels (ARIA tabs): arrow keys select, Tab moves into the panel. Input in other panels
 * is kept.
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
    // Immediately: a later focus change would override the next key.
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
