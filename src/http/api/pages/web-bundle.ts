import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { PAGE_LIMITS, PageRenderer, type PageLimits } from './page-renderer.ts';
import {
  BUNDLE_FOLDER,
  importServerBundle,
  type PageHost,
  type ViewFiles,
} from './server-bundle.ts';

const compressGzip = promisify(gzip);

/** A file that pages load, in both codings. */
export interface WebAsset {
  readonly identity: Buffer<ArrayBuffer>;
  readonly gzip: Buffer<ArrayBuffer>;
}

/** The pages that the build created from web/. */
export interface WebBundle {
  /** Returns the path templates of all pages of a host. */
  readonly templatesOf: (host: PageHost) => readonly string[];
  /** Writes pages on its own threads. */
  readonly renderer: Pick<PageRenderer, 'advance' | 'isLarge' | 'close'>;
  /** All files below `assets/` by name; each name contains a hash of the content. */
  readonly assets: ReadonlyMap<string, WebAsset>;
}

interface ManifestEntry {
  readonly file: string;
  readonly css?: readonly string[];
  /** Keys of the manifest. */
  readonly imports?: readonly string[];
  readonly isEntry?: boolean;
}

type Manifest = Readonly<Record<string, ManifestEntry>>;

const VIEW = /^src\/views\/(.+)\.tsx$/;
const nameOf = (path: string): string => path.replace(/^assets\//, '');

/**
 * Reads the pages that `npm run build` creates.
 * @throws Error if they do not exist
 * @param limits resource limits of the page threads
 */
export async function readWebBundle(limits: PageLimits = PAGE_LIMITS): Promise<WebBundle> {
  const manifest = JSON.parse(
    await readFile(new URL('client/.vite/manifest.json', BUNDLE_FOLDER), 'utf8'),
  ) as Manifest;
  const [entryKey, entry] = Object.entries(manifest).find(([, { isEntry }]) => isEntry) ?? [];
  if (entryKey === undefined || entry === undefined) {
    throw new Error('The bundle of the pages has no entry.');
  }
  const folder = new URL('client/assets/', BUNDLE_FOLDER);
  const names = await readdir(folder);
  const assets = await Promise.all(
    names.map(async (name): Promise<[string, WebAsset]> => {
      const identity = await readFile(new URL(name, folder));
      const level = constants.Z_BEST_COMPRESSION;
      return [name, { identity, gzip: await compressGzip(identity, { level }) }];
    }),
  );
  const { templatesOf } = await importServerBundle();
  const script = nameOf(entry.file);
  const views = Object.keys(manifest).flatMap((key): [string, ViewFiles][] => {
    const view = VIEW.exec(key)?.[1];
    return view === undefined ? [] : [[view, { script, ...filesOf(manifest, [entryKey, key]) }]];
  });
  const renderer = new PageRenderer({ script, views: new Map(views) }, limits);
  return { templatesOf, renderer, assets: new Map(assets) };
}

/** Lists all files of the modules and their imports, those of the first module first. */
function filesOf(manifest: Manifest, keys: readonly string[]): Omit<ViewFiles, 'script'> {
  const seen = new Set<string>();
  const modules: string[] = [];
  const styles = new Set<string>();
  const add = (key: string): void => {
    const entry = manifest[key];
    if (entry === undefined || seen.has(key)) return;
    seen.add(key);
    entry.imports?.forEach(add);
    if (entry.isEntry !== true) modules.push(nameOf(entry.file));
    for (const file of entry.css ?? []) styles.add(nameOf(file));
  };
  keys.forEach(add);
  return { modules, styles: [...styles] };
}
