import { type VNode } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { type InputFile } from '../../../src/solidity/input-file.ts';
import { findDeployableContracts } from '../../../src/solidity/build-standard-json.ts';
import { vyperPragmaOf } from '../../../src/solidity/vyper-sources.ts';

/** Accepts the text of a source or of a JSON file, and its import path. */
export function PasteField({
  onAdd,
  addPasted,
}: {
  readonly onAdd: (file: InputFile) => Promise<void>;
  /** Set to a function that adds the text, while there is text that was not added. */
  readonly addPasted: { current: (() => Promise<void>) | undefined };
}): VNode {
  const [path, setPath] = useState('');
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const [name] = useMemo(() => findDeployableContracts({ '': text }), [text]);
  // A Vyper pragma is a comment; nothing else distinguishes the languages cheaply.
  const isVyper = vyperPragmaOf(text) !== undefined || /^(?:@external|@deploy)$/m.test(text);
  const isJson = text.trimStart().startsWith('{');
  const source = isVyper ? 'Contract.vy' : `${name?.name ?? 'Contract'}.sol`;
  const proposed = isJson ? 'input.json' : source;
  const add = async (): Promise<void> => {
    try {
      await onAdd({ path: path.trim() === '' ? proposed : path.trim(), text });
      setPath('');
      setText('');
      setFault(undefined);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  const isEmpty = text.trim() === '';
  useLayoutEffect(() => {
    addPasted.current = isEmpty ? undefined : add;
  });
  return (
    <>
      <div class="field">
        <label for="pasted">Text of a source, or a standard JSON input</label>
        <textarea
          id="pasted"
          rows={8}
          spellcheck={false}
          autocomplete="off"
          value={text}
          aria-invalid={fault !== undefined}
          aria-describedby={fault === undefined ? undefined : 'pasted-fault'}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {fault !== undefined && (
          <p class="fault" id="pasted-fault">
            {fault}
          </p>
        )}
      </div>
      <div class="field">
        <label for="pasted-path">File path</label>
        <input
          id="pasted-path"
          value={path}
          placeholder={proposed}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="pasted-path-hint"
          onInput={(event) => setPath(event.currentTarget.value)}
        />
        <p class="hint" id="pasted-path-hint">
          As imported by other sources, such as <code>contracts/Token.sol</code>. Not needed for a
          standard JSON input.
        </p>
      </div>
      <button
        type="button"
        onClick={() => {
          if (isEmpty) setFault('Paste the text of a source first.');
          else void add();
          document.getElementById('pasted')?.focus();
        }}
      >
        Add this source
      </button>
    </>
  );
}
