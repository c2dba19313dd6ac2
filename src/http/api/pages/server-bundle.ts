import { type VerifyAccess } from '../../access-gate.ts';
import { packageFile } from '../../../lib/package-file.ts';

/** Hosts that have pages; most are on the API host. */
export type PageHost = 'api' | 'repository' | 'operator';

/** A page request: a path with a query, and the problem to show if nothing is at the path. */
export interface PageRequest {
  readonly path: string;
  readonly query: string;
  readonly problem?: { readonly code: string; readonly detail: string };
}

/** Where a page is served. */
export interface PageContext {
  readonly host: PageHost;
  /** Relative path from the page to the root of its host: `./`, `../` and so on. */
  readonly base: string;
  /** Path or URL from the page to the root of the API host; absent if that host is disabled. */
  readonly site?: string;
  readonly isUnlisted?: boolean;
  readonly version: string;
  /** Who may submit contracts to the host of the page. */
  readonly verify: VerifyAccess;
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  /** ISO 8601. */
  readonly now: string;
}

/** A response of the host that was read for a page, in the form that the bundle expects. */
export interface PrefetchedResponse {
  /** Without the leading slash. */
  readonly path: string;
  /** Time of the request, and the time since which this path has given no usable response. ISO 8601. */
  readonly at: string;
  readonly since: string;
  /** 0 if there was no response; 304 if the content still has the tag that was sent. */
  readonly status: number;
  readonly tag?: string;
  readonly body?: Uint8Array;
  /** Timeout in milliseconds; set if no response came within it. */
  readonly timeoutMs?: number;
}

/** Files below `assets/` that the page of a view loads. */
export interface ViewFiles {
  /** Script at the beginning of every page. */
  readonly script: string;
  /** Modules that it imports, listed so that a browser can load them in parallel. */
  readonly modules: readonly string[];
  readonly styles: readonly string[];
}

/** Facts about a page apart from its document. */
export interface PageFacts {
  readonly status: number;
  /** Relative to the page; set only for a redirect. */
  readonly location?: string;
  /** Whether the page is the same on every request in the same context. */
  readonly isStatic: boolean;
  /** Whether it shows only published data, so that a copy one second old may be served to any client. */
  readonly isShared: boolean;
}

/** Exports of the bundle. */
interface ServerBundle {
  /** Returns the path templates of all pages of a host. */
  readonly templatesOf: (host: PageHost) => readonly string[];
  /** Renders a page; undefined if no page has the path. Never settles while a response is missing. */
  readonly render: (
    question: PageRequest,
    context: PageContext,
    given: {
      readonly find: (path: string) => PrefetchedResponse | undefined;
      readonly miss: (path: string, tag: string | undefined) => void;
    },
    filesOf: (view: string) => ViewFiles,
  ) => Promise<(PageFacts & { readonly html: string }) | undefined>;
}

export const BUNDLE_FOLDER = packageFile('dist/web/');

/**
 * Loads the server bundle that `npm run build` creates.
 * @throws Error if it does not exist
 */
export async function importServerBundle(): Promise<ServerBundle> {
  return (await import(new URL('server/server.js', BUNDLE_FOLDER).href)) as ServerBundle;
}
