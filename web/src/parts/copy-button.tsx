import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Copies a text. It is there where a script runs and the browser lets it. */
export function CopyButton({
  text,
  what,
  label = 'Copy',
}: {
  readonly text: string;
  /** What is copied, for those who do not see what the button stands beside: `the address`. */
  readonly what: string;
  readonly label?: string;
}): VNode | null {
  const [state, setState] = useState<'absent' | 'ready' | 'copied' | 'failed'>('absent');
  useEffect(() => {
    // Over plain HTTP of another host browsers have no clipboard.
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
