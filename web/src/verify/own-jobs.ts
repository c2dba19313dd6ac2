import { useEffect, useState } from 'preact/hooks';
import { type InputKind } from './input-change.ts';
import { SENT_FOR } from './kept-form.ts';
import { type InputChange } from './verify-fields.ts';

const KEY = 'fullmatch-jobs';
const AGAIN = 'fullmatch-again';
const MOST = 50;

function readIds(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

/**
 * Records that a job was submitted from this browser.
 * @param kind the kind of its input, if the form of this tab keeps it
 */
export function recordOwnJob(id: string, kind?: InputKind): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...readIds()].slice(0, MOST)));
    if (kind !== undefined) sessionStorage.setItem(SENT_FOR, JSON.stringify({ id, kind }));
  } catch {
    // It is then shown like any other job.
  }
}

/** Whether a job was submitted from this browser. */
export const isOwnJob = (id: string): boolean => readIds().includes(id);

/** The kind of a job's input, if the form of this tab still keeps it; undefined without scripts. */
export function useKeptInput(id: string): InputKind | undefined {
  const [kind, setKind] = useState<InputKind>();
  useEffect(() => setKind(keptInputKind(id)), [id]);
  return kind;
}

function keptInputKind(id: string): InputKind | undefined {
  try {
    const sent = JSON.parse(sessionStorage.getItem(SENT_FOR) ?? '{}') as {
      readonly id?: string;
      readonly kind?: InputKind;
    };
    return sent.id === id ? sent.kind : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the form submit its content with a change the next time it is opened. */
export function requestResubmission(change: InputChange = {}): void {
  try {
    sessionStorage.setItem(AGAIN, JSON.stringify(change));
  } catch {
    // The user can still submit it.
  }
}

/** The change with which the form should submit its content; it is returned once. */
export function takeResubmission(): InputChange | undefined {
  try {
    const change = sessionStorage.getItem(AGAIN);
    sessionStorage.removeItem(AGAIN);
    return change === null ? undefined : (JSON.parse(change) as InputChange);
  } catch {
    return undefined;
  }
}
