import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Copies a text. Rendered only if scripts run and the browser allows it. */
export function CopyButton({
  text,
  what,
  label = 'Copy',
}: {
  readonly text: string;
  /** Name of the copied text for screen readers: `the address`. */
  readonly what: string;
  readonly label?: string;
}): VNode | null {
  const [state, setState] = useState<'absent' | 'ready' | 'copied' | 'failed'>('absent');
  useEffect(() => {
    // Browsers have no clipboard on pages of other hosts over plain HTTP.
    if ('clipboard' in navigator) setState('ready');
  }, []);
  if (state === 'absent') return null;
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  const labels = { ready: label, copied: 'Copied', failed: 'Not copied' } as const;
  return (
    <button
      type="button"
      class="copy"
      onClick={copy}
      aria-label={label === 'Copy' ? `Copy ${what}` : `${label}: copy ${what}`}
    >
      <span aria-live="polite">{labels[state]}</span>
    </button>
  );
}
