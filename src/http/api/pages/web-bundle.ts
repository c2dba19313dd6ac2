import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compressGzip = promisify(gzip);

/** Which pages there are: most are of the API host. */
export type PageHost = 'api' | 'repository';

/** A page that the bundle rendered. */
export interface RenderedPage {
  readonly status: number;
  /** Relative to the page; of a redirect only. */
  readonly location?: string;
  /** The whole document. */
  readonly html: string;
  /** Whether it is the same whenever it is asked for in the same context. */
  readonly isStatic: boolean;
}

/** What is asked for: a path with a query, or what to say where nothing is. */
interface PageQuestion {
  readonly path: string;
  readonly query: string;
  readonly problem?: { readonly code: string; readonly detail: string };
}

/** What a page is told of where it is served. */
interface PageContext {
  readonly host: PageHost;
  /** From the page to the root of its host: `./`, `../` and so on. */
  readonly base: string;
  /** From the page to the root of the API host; absent where that host is switched off. */
  readonly site?: string;
  readonly version: string;
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  /** ISO 8601. */
  readonly now: string;
}

type RenderPage = (
  question: PageQuestion,
  context: PageContext,
  ask: (path: string) => Promise<Response>,
) => Promise<RenderedPage | undefined>;

/** A file that pages load, in both codings. */
export interface WebAsset {
  readonly identity: Buffer<ArrayBuffer>;
  readonly gzip: Buffer<ArrayBuffer>;
}

/** The files that the page of a view loads, below `assets/`. */
interface ViewFiles {
  /** The script by which every page begins. */
  readonly script: string;
  /** The modules that it imports, so that a browser need not find them one after the other. */
  readonly modules: readonly string[];
  readonly styles: readonly string[];
}

/** The pages as the build made them from web/. */
export interface WebBundle {
  /** The path templates of all pages of a host. */
  readonly templatesOf: (host: PageHost) => readonly string[];
  /** Undefined where no page has the path. */
  readonly render: RenderPage;
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

/** What the bundle of the service exports. */
interface ServerBundle extends Pick<WebBundle, 'templatesOf'> {
  readonly render: (
    ...parameters: [...Parameters<RenderPage>, filesOf: (view: string) => ViewFiles]
  ) => ReturnType<RenderPage>;
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
  const server = (await import(new URL('server/server.js', FOLDER).href)) as ServerBundle;
  const script = nameOf(entry.file);
  const files = new Map(
    Object.keys(manifest).flatMap((key) => {
      const view = VIEW.exec(key)?.[1];
      const ofView = { script, ...filesOf(manifest, [entryKey, key]) };
      return view === undefined ? [] : [[view, ofView] as const];
    }),
  );
  const filesOfView = (view: string): ViewFiles =>
    files.get(view) ?? { script, modules: [], styles: [] };
  return {
    templatesOf: server.templatesOf,
    render: (question, context, ask) => server.render(question, context, ask, filesOfView),
    assets: new Map(assets),
  };
}

/** All files of some modules and of what they import, the ones of the first module before the others. */
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
