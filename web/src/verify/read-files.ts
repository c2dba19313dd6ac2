import { formatCount } from '../format.ts';
import { type InputFile } from '../../../src/solidity/input-file.ts';

/** An unread file, and its path within the selected folder. */
export interface PlacedFile {
  readonly path: string;
  readonly file: File;
}

const READ = /\.(?:json|sol|yul|vyi?|txt)$/i;
const ZIP = /\.zip$/i;
const PACKED = /\.(?:tar|t?gz|bz2|xz|7z|rar)$/i;
const FILES_MAX = 3000;
/** The output in a build info makes it large; no source comes close to this limit. */
const JSON_BYTES_MAX = 64_000_000;
const SOURCE_BYTES_MAX = 5_000_000;
const ZIP_BOUNDS = { files: FILES_MAX, bytes: 128_000_000 };

const megabytes = (bytes: number): string => `${formatCount(Math.ceil(bytes / 1_000_000))} MB`;

/** The files of an input element for files or a folder. */
export function filesOfField(list: FileList | null): readonly PlacedFile[] {
  return Array.from(list ?? [], (file) => ({
    path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath,
    file,
  }));
}

/**
 * The files of a drop, including those in its folders. Call it while the drop event is handled: the list is
 * empty later.
 */
export function filesOfDrop({ items }: DataTransfer): Promise<readonly PlacedFile[]> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry());
  return walk(entries.filter((entry) => entry !== null));
}

async function walk(entries: readonly FileSystemEntry[]): Promise<readonly PlacedFile[]> {
  const files: PlacedFile[] = [];
  const open = [...entries];
  for (let entry = open.shift(); entry !== undefined; entry = open.shift()) {
    if (isFile(entry)) {
      const { fullPath } = entry;
      const file = await new Promise<File>(entry.file.bind(entry));
      files.push({ path: fullPath.replace(/^\//, ''), file });
      requireFew(files);
    } else if (isFolder(entry) && !entry.name.startsWith('.')) {
      const reader = entry.createReader();
      const readSome = (): Promise<FileSystemEntry[]> =>
        new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      // A reader returns a hundred entries at a time, and none at the end.
      for (let some = await readSome(); some.length > 0; some = await readSome()) {
        open.push(...some.filter(({ isDirectory, name }) => isDirectory || READ.test(name)));
      }
    }
  }
  return files;
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

function requireFew(files: readonly unknown[]): void {
  if (files.length > FILES_MAX) {
    throw new Error(
      `These are more than ${formatCount(FILES_MAX)} files. Choose those of one compilation.`,
    );
  }
}

/** Reads the files in a zip archive, such as the sources.zip of a contract. */
async function unzip({ path, file }: PlacedFile): Promise<readonly PlacedFile[]> {
  if (file.size > ZIP_BOUNDS.bytes) {
    throw new Error(
      `${path} has ${megabytes(file.size)}. Archives are read up to ${megabytes(ZIP_BOUNDS.bytes)}.`,
    );
  }
  // Few visitors need it, so it is not part of the page.
  const { unzipFiles } = await import('../../../src/solidity/unzip-files.ts');
  const archive = { name: path, bytes: new Uint8Array(await file.arrayBuffer()) };
  return unzipFiles(archive, (name) => READ.test(name), ZIP_BOUNDS).map((entry) => ({
    path: entry.path,
    // The bytes have a buffer of their own.
    file: new File([entry.bytes as Uint8Array<ArrayBuffer>], entry.path),
  }));
}

/**
 * Reads files as text, including those in zip archives.
 * @throws Error that tells the user what is wrong with the files, and what to select instead
 */
export async function readFiles(chosen: readonly PlacedFile[]): Promise<readonly InputFile[]> {
  const unpacked = chosen.map(async (placed) => (ZIP.test(placed.path) ? unzip(placed) : [placed]));
  const files = (await Promise.all(unpacked)).flat();
  const fitting = files.filter(({ path }) => READ.test(path));
  requireFew(fitting);
  if (fitting.length === 0) {
    const packed = files.find(({ path }) => PACKED.test(path));
    throw new Error(
      packed === undefined
        ? 'These files cannot be compiled. Choose .json, .sol and .vy files.'
        : `${packed.path} is an archive. Unpack it and choose the files in it.`,
    );
  }
  for (const { path, file } of fitting) {
    const limit = /\.json$/i.test(path) ? JSON_BYTES_MAX : SOURCE_BYTES_MAX;
    if (file.size > limit) {
      throw new Error(
        `${path} is ${megabytes(file.size)}. ${limit === JSON_BYTES_MAX ? 'JSON' : 'Source'} files can be up to ${megabytes(limit)}.`,
      );
    }
  }
  const { withoutOutput } = await import('../../../src/solidity/read-input-files.ts');
  return Promise.all(
    fitting.map(async ({ path, file }) => ({
      path,
      text: withoutOutput(decode(path, await file.arrayBuffer())),
    })),
  );
}

/** A UTF-8 byte order mark stays: the source's hash includes it. */
function decode(path: string, bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes);
  // Windows shells write program output in UTF-16.
  const isUtf16 = first === 0xff && second === 0xfe;
  try {
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', {
      fatal: true,
      ignoreBOM: !isUtf16,
    }).decode(bytes);
  } catch {
    throw new Error(`${path} is not text in UTF-8.`);
  }
}
