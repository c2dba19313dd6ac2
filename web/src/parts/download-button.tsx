import { type VNode } from 'preact';
import { useHydrated } from '../use-hydrated.ts';

/** Saves a text that is created on demand as a file. Rendered only with scripts. */
export function DownloadButton({
  name,
  type,
  make,
  children,
}: {
  /** The file name. */
  readonly name: string;
  readonly type: 'text/csv' | 'application/json';
  readonly make: () => string;
  readonly children: string;
}): VNode | null {
  if (!useHydrated()) return null;
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([make()], { type: `${type};charset=utf-8` }));
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    // A browser may start reading only after this turn.
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return (
    <button type="button" class="small" onClick={save}>
      {children}
    </button>
  );
}
