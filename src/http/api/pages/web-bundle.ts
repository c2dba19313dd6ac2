import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compressGzip = promisify(gzip);

/** What the service needs of a page that its bundle rendered. */
export interface RenderedPage {
  readonly status: number;
  readonly title: string;
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

/** The pages as the build made them from web/. */
export interface WebBundle {
  /** The path templates of all pages. */
  readonly templates: readonly string[];
  readonly render: (
    request: { readonly path: string; readonly query: string },
    context: PageContext,
    ask: (path: string) => Promise<Response>,
  ) => Promise<RenderedPage | undefined>;
  /** File names of the script and the styles of every page, below `assets/`. */
  readonly script: string;
  readonly styles: readonly string[];
  /** All files below `assets/` by their names, which hold a hash of their content. */
  readonly assets: ReadonlyMap<string, WebAsset>;
}

// The same path holds from src/ and from dist/.
const FOLDER = new URL('../../../../dist/web/', import.meta.url);

interface ManifestEntry {
  readonly file: string;
  readonly css?: readonly string[];
  readonly isEntry?: boolean;
}

const nameOf = (path: string): string => path.replace(/^assets\//, '');

/** Reads the pages that `npm run build` made. @throws Error when they are not there. */
export async function readWebBundle(): Promise<WebBundle> {
  const manifest = JSON.parse(
    await readFile(new URL('client/.vite/manifest.json', FOLDER), 'utf8'),
  ) as Readonly<Record<string, ManifestEntry>>;
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry === true);
  if (entry === undefined) throw new Error('The bundle of the pages has no entry.');
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
    styles: (entry.css ?? []).map(nameOf),
    assets: new Map(assets),
  };
}
