import { strToU8, zipSync, type Zippable } from 'fflate';

/** A file in an archive. */
export interface ZippedFile {
  readonly path: string;
  readonly content: string;
}

/** Earliest time an archive can store: the same record always gives the same bytes. */
const NO_TIME = new Date(1980, 0, 1);
/** Compresses sources nearly as well as the highest level, in a third of the time. */
const LEVEL = 6;

/** Creates an archive of files, sorted by path, in its own memory. */
export function renderZip(files: readonly ZippedFile[]): Buffer<ArrayBuffer> {
  const entries: Zippable = Object.create(null) as Zippable;
  for (const { path, content } of files) entries[path] = strToU8(content);
  const packed = zipSync(entries, { level: LEVEL, mtime: NO_TIME });
  const bytes = Buffer.allocUnsafeSlow(packed.byteLength);
  bytes.set(packed);
  return bytes;
}
