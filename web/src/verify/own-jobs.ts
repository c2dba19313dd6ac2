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

/** Notes that a job was sent from this browser. */
export function noteOwnJob(id: string): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...readIds()].slice(0, MOST)));
  } catch {
    // It is then shown as anybody's.
  }
}

/** Whether a job was sent from this browser. */
export const isOwnJob = (id: string): boolean => readIds().includes(id);

/** Has the form send what stands in it when it is opened next. */
export function askToSendAgain(): void {
  try {
    sessionStorage.setItem(AGAIN, '1');
  } catch {
    // Then a person sends it.
  }
}

/** Whether somebody asked the form to send what stands in it. Asked once. */
export function isAskedToSendAgain(): boolean {
  try {
    const isAsked = sessionStorage.getItem(AGAIN) !== null;
    sessionStorage.removeItem(AGAIN);
    return isAsked;
  } catch {
    return false;
  }
}
