import { type UnzipFileInfo, unzipSync } from 'fflate';

/** Bounds of an archive, checked before the entry is decompressed. */
export interface ArchiveBounds {
  readonly files: number;
  /** Bytes of all files read, decompressed. */
  readonly bytes: number;
}

/** Thrown for an archive that cannot be read, or that is too large. The message is a sentence. */
export class ArchiveFault extends Error {
  override readonly name = 'ArchiveFault';
}

/** An archive of a whole project has many files that are not read. */
const ENTRIES_MAX = 100_000;
/** Files that file managers add to an archive. */
const ADDED = /(?:^|\/)(?:__MACOSX\/|\.)/;

/**
 * Reads the files of a zip archive whose path fits, such as a contract's sources.zip.
 * @throws ArchiveFault
 */
export function unzipFiles(
  archive: { readonly name: string; readonly bytes: Uint8Array },
  fits: (path: string) => boolean,
  bounds: ArchiveBounds,
): readonly { readonly path: string; readonly bytes: Uint8Array }[] {
  let entries = 0;
  let files = 0;
  let bytes = 0;
  const filter = ({ name, size, originalSize }: UnzipFileInfo): boolean => {
    entries += 1;
    const isRead = !name.endsWith('/') && !ADDED.test(name) && fits(name);
    if (isRead) {
      files += 1;
      // An entry never gets longer than this: a stored one has `size` bytes, others are decompressed into
      // `originalSize` bytes.
      bytes += Math.max(size, originalSize);
    }
    if (entries > ENTRIES_MAX || files > bounds.files || bytes > bounds.bytes) {
      throw new ArchiveFault(
        `${archive.name} has more than ${bounds.files.toLocaleString('en')} files or ${bounds.bytes / 1e6} MB unpacked. Choose the files of one compilation.`,
      );
    }
    return isRead;
  };
  try {
    return Object.entries(unzipSync(archive.bytes, { filter })).map(([path, content]) => ({
      path,
      bytes: content,
    }));
  } catch (error) {
    if (error instanceof ArchiveFault) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ArchiveFault(`${archive.name} cannot be read as a zip archive: ${reason}.`);
  }
}
