import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
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
  /** Rejects if data of the text could not be read. */
  readonly make: () => string | Promise<string>;
  readonly children: string;
}): VNode | null {
  const [hasFailed, setFailed] = useState(false);
  if (!useHydrated()) return null;
  const save = async (): Promise<void> => {
    const url = URL.createObjectURL(new Blob([await make()], { type: `${type};charset=utf-8` }));
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    // A browser may start reading only after this turn.
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  const trySave = (): void => {
    setFailed(false);
    save().catch(() => setFailed(true));
  };
  return (
    <>
      <button type="button" class="small" onClick={trySave}>
        {children}
      </button>
      {hasFailed && <span role="alert"> The data could not be read; try again.</span>}
    </>
  );
}
