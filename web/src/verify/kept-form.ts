import { type InputFile } from '../../../src/solidity/input-file.ts';
import { type VerifyFields } from './verify-form.ts';

/** What a reader typed. */
export interface KeptFields {
  readonly fields: VerifyFields;
  readonly chainText: string;
}

const FIELDS = 'fullmatch-verify-fields';
const FILES = 'fullmatch-verify-files';
/** Stands for files that the browser could not keep. */
const LOST = 'lost';

/** Keeps a text until the tab is closed, so that nothing is lost by going to another page; false where it is too long. */
function keep(key: string, text: string): boolean {
  try {
    sessionStorage.setItem(key, text);
    return true;
  } catch {
    // Browsers keep some megabytes, and nothing where storage is switched off.
    return false;
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

/** Keeps the fields in the session, so that a reload of the page loses nothing. */
export function keepFields(kept: KeptFields): void {
  keep(FIELDS, JSON.stringify(kept));
}

/** Keeps the files, or at least that there were some. */
export function keepFiles(files: readonly InputFile[]): void {
  if (!keep(FILES, JSON.stringify(files))) keep(FILES, JSON.stringify(LOST));
}

/** What was typed before. */
export function readKeptFields(): KeptFields | undefined {
  return read(FIELDS);
}

/** The files that were chosen before; `lost` where there were some that could not be kept. */
export function readKeptFiles(): readonly InputFile[] | typeof LOST {
  return read(FILES) ?? [];
}
