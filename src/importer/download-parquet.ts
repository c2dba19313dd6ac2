import { mkdir, readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { FullmatchError } from '../errors.ts';
import { hashFile } from '../lib/file-hash.ts';
import { mapInOrder } from '../lib/map-in-order.ts';
import { parseJson } from '../lib/parse-json.ts';
import { LISTED_PATH, listedFile, MANIFEST } from './parquet-manifest.ts';
import { type RemoteSource } from './remote-source.ts';

/** Progress of a download, in bytes. */
export interface DownloadProgress {
  readonly files: number;
  readonly allFiles: number;
  readonly bytes: number;
  readonly allBytes: number;
}

/** A file of an export on a web server. */
interface RemoteFile {
  /** `v2/{table}/{name}`, which is also its relative path in the folder. */
  readonly path: string;
  readonly bytes: number;
  readonly hash?: { readonly algorithm: 'sha256' | 'md5'; readonly digest: string };
}

const AT_ONCE = 4;
/** Maximum pages of a listing; each has up to 1,000 files. */
const MAX_PAGES = 1_000;

const manifestSchema = z.object({
  format: z.literal('fullmatch-parquet'),
  files: z.array(listedFile.omit({ rows: true }).extend({ bytes: z.int().nonnegative() })),
});

/**
 * Downloads a Parquet export, version 2, into a folder: the files in Fullmatch's `manifest.json`, or else in
 * the bucket's listing (`?prefix=v2/`, as Google Cloud Storage and S3 provide it). A file that exists with
 * its size is not downloaded again, so an interrupted run continues.
 * @returns false if the server has neither
 * @throws FullmatchError `import_source_unavailable`, `storage_full`; the reason of the signal
 */
export async function downloadParquet(
  remote: RemoteSource,
  folder: string,
  {
    tables,
    signal,
    onProgress,
  }: {
    /** Only tables that an import reads. */
    readonly tables: ReadonlySet<string>;
    readonly signal: AbortSignal;
    readonly onProgress: (progress: DownloadProgress) => void;
  },
): Promise<boolean> {
  const manifest = await readManifest(remote);
  const all = manifest?.files ?? (await listBucket(remote));
  const files = all.filter(({ path }) => tables.has(tableOf(path)));
  if (files.length === 0) return false;
  await mkdir(folder, { recursive: true });
  const places = files.map(({ path }) => join(folder, ...path.split('/')));
  await removeOthers(folder, new Set(places));
  const missing: RemoteFile[] = [];
  for (const file of files) if (!(await isThere(folder, file))) missing.push(file);
  const sum = (some: readonly RemoteFile[]): number =>
    some.reduce((all, { bytes }) => all + bytes, 0);
  await requireSpace(folder, sum(missing));
  const progress = {
    files: files.length - missing.length,
    allFiles: files.length,
    bytes: sum(files) - sum(missing),
    allBytes: sum(files),
  };
  onProgress({ ...progress });
  const downloads = mapInOrder(
    Readable.from(missing) as AsyncIterable<RemoteFile>,
    AT_ONCE,
    async (file) => {
      await downloadFile(remote, folder, file);
      return file;
    },
  );
  for await (const { bytes } of downloads) {
    signal.throwIfAborted();
    progress.files += 1;
    progress.bytes += bytes;
    onProgress({ ...progress });
  }
  // Written last: the import checks every file against it.
  if (manifest !== undefined) await writeFile(join(folder, MANIFEST), manifest.text);
  return true;
}

const tableOf = (path: string): string => path.split('/')[1] ?? '';

async function readManifest(
  remote: RemoteSource,
): Promise<{ readonly text: string; readonly files: readonly RemoteFile[] } | undefined> {
  const { status, body } = await remote.get(`/${MANIFEST}`);
  if (status !== 200) return undefined;
  const text = body.toString('utf8');
  const parsed = manifestSchema.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const files = parsed.data.files.map(({ path, bytes, sha256 }) => ({
    ...{ path, bytes },
    hash: { algorithm: 'sha256' as const, digest: sha256 },
  }));
  return { text, files };
}

const CONTENTS = /<Contents>([^]{0,4096}?)<\/Contents>/g;
const textIn = (xml: string, tag: string): string | undefined =>
  new RegExp(`<${tag}>([^<]{0,1024})</${tag}>`).exec(xml)?.[1];

/**
 * Lists the files below `v2/` of a bucket, page by page
 * (https://cloud.google.com/storage/docs/xml-api/get-bucket-list).
 */
async function listBucket(remote: RemoteSource): Promise<readonly RemoteFile[]> {
  const files: RemoteFile[] = [];
  for (let marker = '', page = 0; page < MAX_PAGES; page += 1) {
    const { status, body } = await remote.get(
      `/?prefix=v2/&marker=${encodeURIComponent(marker)}&max-keys=1000`,
    );
    const xml = status === 200 ? body.toString('utf8') : '';
    if (!xml.includes('<ListBucketResult')) return files;
    let last = '';
    for (const [, content = ''] of xml.matchAll(CONTENTS)) {
      const path = textIn(content, 'Key') ?? '';
      last = path;
      const bytes = Number(textIn(content, 'Size'));
      if (!LISTED_PATH.test(path) || !Number.isSafeInteger(bytes) || bytes < 0) continue;
      // The ETag of a multipart upload is not its MD5.
      const digest = /([0-9a-f]{32})(?:"|&quot;)/.exec(textIn(content, 'ETag') ?? '')?.[1];
      files.push({ path, bytes, ...(digest && { hash: { algorithm: 'md5' as const, digest } }) });
    }
    const next = textIn(xml, 'NextMarker') ?? last;
    if (textIn(xml, 'IsTruncated') !== 'true' || next === '' || next === marker) return files;
    marker = next;
  }
  return files;
}

/** Deletes downloaded files that the export no longer lists: its last files are rewritten under other names. */
async function removeOthers(folder: string, places: ReadonlySet<string>): Promise<void> {
  await rm(join(folder, MANIFEST), { force: true });
  const found = await readdir(join(folder, 'v2'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  for (const entry of found) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !places.has(path)) await rm(path);
  }
}

async function isThere(folder: string, { path, bytes }: RemoteFile): Promise<boolean> {
  const found = await stat(join(folder, ...path.split('/'))).catch(() => undefined);
  return found?.isFile() === true && found.size === bytes;
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize > bytes) return;
  const gigabytes = (count: number): string => `${(count / 1e9).toFixed(1)} GB`;
  throw new FullmatchError(
    'storage_full',
    `The export has ${gigabytes(bytes)} to download, and ${gigabytes(bavail * bsize)} are free at ${folder}.`,
  );
}

/**
 * Renames the file into place when it is complete.
 * @throws FullmatchError `import_source_unavailable`
 */
async function downloadFile(
  remote: RemoteSource,
  folder: string,
  { path, bytes, hash }: RemoteFile,
): Promise<void> {
  const place = join(folder, ...path.split('/'));
  const part = `${place}.part`;
  await mkdir(join(place, '..'), { recursive: true });
  try {
    await remote.download(`/${path}`, part, bytes);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  const { size } = await stat(part);
  const isWhole =
    size === bytes &&
    (hash === undefined || (await hashFile(part, hash.algorithm)) === hash.digest);
  if (!isWhole) {
    throw new FullmatchError(
      'import_source_unavailable',
      `${remote.base}/${path} is not the file that is listed (${size} of ${bytes} bytes); run the same command again`,
      { details: { path } },
    );
  }
  await rename(part, place);
}
