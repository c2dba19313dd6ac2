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

/** Records that a job was submitted from this browser. */
export function recordOwnJob(id: string): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...readIds()].slice(0, MOST)));
  } catch {
    // It is then shown like any other job.
  }
}

/** Whether a job was submitted from this browser. */
export const isOwnJob = (id: string): boolean => readIds().includes(id);

/** Makes the form submit its content when it is opened next. */
export function requestResubmission(): void {
  try {
    sessionStorage.setItem(AGAIN, '1');
  } catch {
    // Then the user submits it.
  }
}

/** Whether the form should submit its content; true once. */
export function takeResubmission(): boolean {
  try {
    const isAsked = sessionStorage.getItem(AGAIN) !== null;
    sessionStorage.removeItem(AGAIN);
    return isAsked;
  } catch {
    return false;
  }
}
