import { type InputFile } from '../../../src/solidity/input-file.ts';
import { type VerifyFields } from './verify-form.ts';

/** Form input. */
export interface KeptFields {
  readonly fields: VerifyFields;
  readonly chainText: string;
}

const FIELDS = 'fullmatch-verify-fields';
const FILES = 'fullmatch-verify-files';
/** Placeholder for files that the browser could not keep. */
const LOST = 'lost';

/** Keeps a text until the tab is closed, so that navigation loses nothing; returns false if it is too long. */
function keep(key: string, text: string): boolean {
  try {
    sessionStorage.setItem(key, text);
    return true;
  } catch {
    // Browsers keep several megabytes, and nothing if storage is disabled.
    return false;
  }
}

function forget(key: string): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}

function read<Value>(key: string): Value | undefined {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

/** Keeps the fields in session storage, so that a reload loses nothing. */
export function keepFields(kept: KeptFields): void {
  keep(FIELDS, JSON.stringify(kept));
}

/** Storage key of the job that the kept files were sent for (own-jobs.ts). */
export const SENT_FOR = 'fullmatch-sent';

/** Keeps the unsent files, or at least the fact that there were some. */
export function keepFiles(files: readonly InputFile[]): void {
  forget(SENT_FOR);
  if (!keep(FILES, JSON.stringify(files))) keep(FILES, JSON.stringify(LOST));
}

/** Whether the browser could keep the files. */
export const areFilesKept = (): boolean => readKeptFiles() !== LOST;

/** The kept input. */
export function readKeptFields(): KeptFields | undefined {
  return read(FIELDS);
}

/** The kept files; `lost` if there were some that could not be kept. */
export function readKeptFiles(): readonly InputFile[] | typeof LOST {
  return read(FILES) ?? [];
}
