import { type ComponentType } from 'preact';
import { type Api } from './api.ts';

/** What every page knows beside its own data. */
export interface PageContext {
  /** Which host it stands on. */
  readonly host: 'api' | 'repository' | 'operator';
  /** From this page to the root of its host: `./`, `../` and so on. Links stay right behind a proxy that adds a path. */
  readonly base: string;
  /** From this page to the root of the API host, where most pages are; absent where that host is switched off. */
  readonly site?: string;
  /** Whether it shows a contract that only tokens reach. */
  readonly isUnlisted?: boolean;
  /** The version of the service. */
  readonly version: string;
  /** Where clients reach the two hosts; one that is switched off is absent. Without a closing slash. */
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  /** When the page was made: relative times count from this moment. ISO 8601. */
  readonly now: string;
}

/** Why there is nothing to show. */
export interface PageProblem {
  readonly code: string;
  readonly detail: string;
}

/** The parts of the URL of a page. */
export interface PageRequest {
  /** Below the root of its host, with a slash in front. */
  readonly path: string;
  /** The parts of the path that the page's template names, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The query without its question mark. */
  readonly query: string;
  /** Set on the page that is shown in place of one that does not exist. */
  readonly problem?: PageProblem;
}

/** What a view is given, on the server and again in the browser. */
export interface ViewProps<Data> {
  readonly data: Data;
  readonly request: PageRequest;
  readonly context: PageContext;
}

/** One kind of page: how its data is read over the public API, and how it looks. */
export interface Page<Data = unknown> {
  /** The entry of the navigation to which the page belongs. */
  readonly section?: string;
  /** Whether the view has the search itself, in place of the one above it. */
  readonly hasSearch?: boolean;
  /** The page's own name, without that of the product; empty on the first page. See {@link documentTitle}. */
  readonly title: (props: ViewProps<Data>) => string;
  /** What a link to the page says of it where people share one; a sentence. */
  readonly about?: (props: ViewProps<Data>) => string;
  /** The picture beside such a link: a path below the root of the API host; that of the service where there is none. */
  readonly card?: (props: ViewProps<Data>) => string | undefined;
  /** Reads what the page shows. It never rejects: what could not be read is {@link Loaded} as failed. */
  readonly load: (api: Api, request: PageRequest) => Promise<Data>;
  /** Where what was asked for is shown: a path below the root of the API host. */
  readonly redirect?: (props: ViewProps<Data>) => string | undefined;
  /** The HTTP status where it is not 200: 404 for a thing that is not there. */
  readonly status?: (data: Data) => number;
  /** Whether it needs no script and is the same for everybody, so that the service writes it once. */
  readonly isStatic?: boolean;
  /** Whether it shows published data alone, so that one that is a second old may be shown to anybody. */
  readonly isShared?: boolean;
  readonly View: ComponentType<ViewProps<Data>>;
}

/** The title of a document: the page first, so that tabs can be told apart. */
export const documentTitle = (name: string): string =>
  name === '' ? 'Fullmatch' : `${name} · Fullmatch`;

/** Keeps the type of a page's data between its parts. */
export function definePage<Data>(page: Page<Data>): Page {
  return page as unknown as Page;
}

/** The parameters of a path that a template covers, or undefined. */
export function matchTemplate(
  template: string,
  path: string,
): Readonly<Record<string, string>> | undefined {
  const parts = template.split('/');
  const given = path.split('/');
  if (parts.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const value = given[index] ?? '';
    if (!part.startsWith('{')) {
      if (part !== value) return undefined;
    } else {
      try {
        params[part.slice(1, -1)] = decodeURIComponent(value);
      } catch {
        return undefined;
      }
    }
  }
  return params;
}
