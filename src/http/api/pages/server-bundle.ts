import { packageFile } from '../../../lib/package-file.ts';

/** Which pages there are: most are of the API host. */
export type PageHost = 'api' | 'repository' | 'operator';

/** What is asked for: a path with a query, or what to say where nothing is. */
export interface PageQuestion {
  readonly path: string;
  readonly query: string;
  readonly problem?: { readonly code: string; readonly detail: string };
}

/** What a page is told of where it is served. */
export interface PageContext {
  readonly host: PageHost;
  /** From the page to the root of its host: `./`, `../` and so on. */
  readonly base: string;
  /** From the page to the root of the API host; absent where that host is switched off. */
  readonly site?: string;
  readonly isUnlisted?: boolean;
  readonly version: string;
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  /** ISO 8601. */
  readonly now: string;
}

/** An answer of the host that was read for a page, as the bundle takes it. */
export interface PrefetchedResponse {
  /** Without its first slash. */
  readonly path: string;
  /** When it was asked for, and since when it gives no answer that can be used. ISO 8601. */
  readonly at: string;
  readonly since: string;
  /** 0 where no answer came; 304 where the content is the one of the tag that was asked with. */
  readonly status: number;
  readonly tag?: string;
  readonly body?: Uint8Array;
  /** Set where no answer came within this time, in milliseconds. */
  readonly timeoutMs?: number;
}

/** The files that the page of a view loads, below `assets/`. */
export interface ViewFiles {
  /** The script that every page begins with. */
  readonly script: string;
  /** The modules that it imports, so that a browser need not find them one after the other. */
  readonly modules: readonly string[];
  readonly styles: readonly string[];
}

/** What the bundle says of a page beside its document. */
export interface PageFacts {
  readonly status: number;
  /** Relative to the page; of a redirect only. */
  readonly location?: string;
  /** Whether it is the same whenever it is asked for in the same context. */
  readonly isStatic: boolean;
  /** Whether it shows published data alone, so that one that is a second old may be shown to anybody. */
  readonly isShared: boolean;
}

/** What the bundle of the service exports. */
interface ServerBundle {
  /** The path templates of all pages of a host. */
  readonly templatesOf: (host: PageHost) => readonly string[];
  /** Undefined where no page has the path. It waits for ever for what is not given. */
  readonly render: (
    question: PageQuestion,
    context: PageContext,
    given: {
      readonly find: (path: string) => PrefetchedResponse | undefined;
      readonly miss: (path: string, tag: string | undefined) => void;
    },
    filesOf: (view: string) => ViewFiles,
  ) => Promise<(PageFacts & { readonly html: string }) | undefined>;
}

export const BUNDLE_FOLDER = packageFile('dist/web/');

/** Loads what `npm run build` made of the pages for the service. @throws Error when it is not there */
export async function importServerBundle(): Promise<ServerBundle> {
  return (await import(new URL('server/server.js', BUNDLE_FOLDER).href)) as ServerBundle;
}
