import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compressGzip = promisify(gzip);

/** What the service needs of a page that its bundle rendered. */
export interface RenderedPage {
  readonly status: number;
  /** Relative to the page; of a redirect only. */
  readonly location?: string;
  readonly title: string;
  /** Which view it shows: a key of {@link WebBundle.files}. */
  readonly view: string;
  readonly body: string;
  /** JSON that the browser's bundle takes up again. */
  readonly state: string;
}

/** What a page is told of where it is served. */
export interface PageContext {
  /** From the page to the root of the API host: `./`, `../` and so on. */
  readonly base: string;
  readonly version: string;
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  /** ISO 8601. */
  readonly now: string;
}

/** A file that pages load, in both codings. */
export interface WebAsset {
  readonly identity: Buffer<ArrayBuffer>;
  readonly gzip: Buffer<ArrayBuffer>;
}

/** The files that a page loads, below `assets/`. */
interface PageFiles {
  /** The modules that {@link WebBundle.script} imports, so that a browser need not find them one after the other. */
  readonly modules: readonly string[];
  readonly styles: readonly string[];
}

/** The pages as the build made them from web/. */
export interface WebBundle {
  /** The path templates of all pages. */
  readonly templates: readonly string[];
  readonly render: (
    request: { readonly path: string; readonly query: string },
    context: PageContext,
    ask: (path: string) => Promise<Response>,
  ) => Promise<RenderedPage | undefined>;
  /** The script by which every page begins. */
  readonly script: string;
  /** What the page of a view loads, by the name of the view. */
  readonly files: ReadonlyMap<string, PageFiles>;
  /** All files below `assets/` by their names, which hold a hash of their content. */
  readonly assets: ReadonlyMap<string, WebAsset>;
}

// The same path holds from src/ and from dist/.
const FOLDER = new URL('../../../../dist/web/', import.meta.url);

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

/** Reads the pages that `npm run build` made. @throws Error when they are not there. */
export async function readWebBundle(): Promise<WebBundle> {
  const manifest = JSON.parse(
    await readFile(new URL('client/.vite/manifest.json', FOLDER), 'utf8'),
  ) as Manifest;
  const [entryKey, entry] = Object.entries(manifest).find(([, { isEntry }]) => isEntry) ?? [];
  if (entryKey === undefined || entry === undefined) {
    throw new Error('The bundle of the pages has no entry.');
  }
  const folder = new URL('client/assets/', FOLDER);
  const names = await readdir(folder);
  const assets = await Promise.all(
    names.map(async (name): Promise<[string, WebAsset]> => {
      const identity = await readFile(new URL(name, folder));
      const level = constants.Z_BEST_COMPRESSION;
      return [name, { identity, gzip: await compressGzip(identity, { level }) }];
    }),
  );
  const server = (await import(new URL('server/server.js', FOLDER).href)) as Pick<
    WebBundle,
    'templates' | 'render'
  >;
  return {
    templates: server.templates,
    render: server.render,
    script: nameOf(entry.file),
    files: new Map(
      Object.keys(manifest).flatMap((key) => {
        const view = VIEW.exec(key)?.[1];
        return view === undefined ? [] : [[view, filesOf(manifest, [entryKey, key])]];
      }),
    ),
    assets: new Map(assets),
  };
}

/** All files of some modules and of what they import, the ones of the first module before the others. */
function filesOf(manifest: Manifest, keys: readonly string[]): PageFiles {
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
