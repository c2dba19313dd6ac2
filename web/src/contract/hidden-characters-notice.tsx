import { type VNode } from 'preact';
import { type SourceFile } from './contract-data.ts';

/** Warns of invisible characters in parts of a contract. */
export function HiddenCharactersNotice({
  parts,
  files = [],
}: {
  /** Parts other than the contents of files, as text. */
  readonly parts: readonly string[];
  readonly files?: readonly SourceFile[] | undefined;
}): VNode | null {
  const count = files.filter(({ hidden }) => hidden > 0).length;
  const all = [...parts, ...(count > 0 ? [count === 1 ? 'a source' : `${count} sources`] : [])];
  if (all.length === 0) return null;
  return (
    <div class="notice failure" role="note">
      <p>
        <strong>Invisible characters</strong> in {all.join(', ')}. They can make text look different
        from what it is; here they are shown as code points.
      </p>
    </div>
  );
}
