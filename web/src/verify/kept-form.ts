import { type DroppedFile } from './read-dropped.ts';
import { type VerifyFields } from './verify-form.ts';

/** What a reader typed and chose. */
export interface KeptForm {
  readonly fields: VerifyFields;
  readonly chainText: string;
  readonly files: readonly DroppedFile[];
  /** Whether there were files that the browser could not keep. */
  readonly areLost?: boolean;
}

const KEY = 'fullmatch-verify';

/** Keeps the form until the tab is closed, so that nothing is lost by going to another page. */
export function keepForm(form: KeptForm): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(form));
  } catch {
    // Browsers keep some megabytes: the fields alone fit always.
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ ...form, files: [], areLost: true }));
    } catch {
      // Storage is switched off: the form is kept only as long as the page.
    }
  }
}

/** The form as it was left. */
export function readKeptForm(): KeptForm | undefined {
  try {
    const text = sessionStorage.getItem(KEY);
    return text === null ? undefined : (JSON.parse(text) as KeptForm);
  } catch {
    return undefined;
  }
}
