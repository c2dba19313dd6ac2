import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { findNamedChain } from '../parts/named-chain.ts';
import { keepFields } from './kept-form.ts';
import { type VerifyFields } from './verify-form.ts';

interface Form {
  readonly base: string;
  readonly fields: VerifyFields;
  readonly chainText: string;
  readonly setFields: (next: (now: VerifyFields) => VerifyFields) => void;
  readonly setChainText: (text: string) => void;
  readonly isSending: boolean;
  /** Sends the rendered form if it has no errors. */
  readonly send: () => Promise<void>;
}

/**
 * Returns a function that selects the chain named by the text of its field. It does nothing if a chain is
 * selected, or if the text changes in the meantime.
 */
function useNamedChain(form: Form): () => Promise<void> {
  const { base, fields, chainText, setFields, setChainText } = form;
  const typed = useRef(chainText);
  typed.current = chainText;
  const selectNamedChain = async (): Promise<void> => {
    if (fields.chain !== '' || chainText.trim() === '') return;
    const named = await findNamedChain(base, chainText);
    if (named === undefined || typed.current !== chainText) return;
    const text = `${named.name} (${named.chainId})`;
    setChainText(text);
    setFields((now) => {
      const next = { ...now, chain: String(named.chainId) };
      keepFields({ fields: next, chainText: text });
      return next;
    });
  };
  useEffect(() => {
    // The URL may name the chain.
    void selectNamedChain();
  }, []);
  return selectNamedChain;
}

/** Completes the form before it is sent: adds pasted text, and selects the chain that the text names. */
export function useSubmit(form: Form): {
  /** Adds the pasted text; undefined while there is none. */
  readonly addPasted: { current: (() => Promise<void>) | undefined };
  readonly selectNamedChain: () => Promise<void>;
  readonly submitForm: () => Promise<void>;
} {
  const { isSending, send } = form;
  const addPasted = useRef<() => Promise<void>>(undefined);
  const selectNamedChain = useNamedChain(form);
  const [requests, setRequests] = useState(0);
  // After the render with the additions, so that `send` reads them.
  useLayoutEffect(() => {
    if (requests > 0 && !isSending) void send();
  }, [requests]);
  const submitForm = async (): Promise<void> => {
    const isComplete = form.fields.chain !== '' || form.chainText.trim() === '';
    // At once, so that focus moves to the first error before the next key.
    if (isComplete && addPasted.current === undefined) return send();
    await addPasted.current?.();
    await selectNamedChain();
    setRequests((count) => count + 1);
  };
  return { addPasted, selectNamedChain, submitForm };
}
