import { type ComponentType } from 'preact';
import { type Api } from './api.ts';

/** Context of every page in addition to its own data. */
export interface PageContext {
  /** The host of the page. */
  readonly host: 'api' | 'repository' | 'operator';
  /** Relative URL of the host's root: `./`, `../` and so on. Links stay correct behind a proxy that adds a path. */
  readonly base: string;
  /** Relative URL of the API host's root, where most pages are; absent if that host is disabled. */
  readonly site?: string;
  /** Whether the page shows an unlisted contract. */
  readonly isUnlisted?: boolean;
  /** The version of the service. */
  readonly version: string;
  /** Who may submit contracts to this host: everyone, holders of a token, or no one. */
  readonly verify: 'open' | 'token' | 'off';
  /** Public URLs of the two hosts without a trailing slash; absent if a host is disabled. */
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  /** When the page was rendered: the reference of relative times. ISO 8601. */
  readonly now: string;
}

/** Why there is nothing to show. */
export interface PageProblem {
  readonly code: string;
  readonly detail: string;
}

/** Parts of a page's URL. */
export interface PageRequest {
  /** Relative to the root of its host, with a leading slash. */
  readonly path: string;
  /** Parameters of the page's path template, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The query without its question mark. */
  readonly query: string;
  /** Set on the page that replaces a missing one. */
  readonly problem?: PageProblem;
}

/** Props of a view, on the server and again in the browser. */
export interface ViewProps<Data> {
  readonly data: Data;
  readonly request: PageRequest;
  readonly context: PageContext;
}

/** A kind of page: how its data is read over the public API, and how it is rendered. */
export interface Page<Data = unknown> {
  /** The page's entry in the navigation. */
  readonly section?: string;
  /** Whether the view contains the search itself, instead of the one in the header. */
  readonly hasSearch?: boolean;
  /** The page's own title, without the product name; empty on the first page. See {@link documentTitle}. */
  readonly title: (props: ViewProps<Data>) => string;
  /** Description for link previews; a sentence. */
  readonly about?: (props: ViewProps<Data>) => string;
  /** Image for link previews: a path relative to the root of the API host; the service's own by default. */
  readonly card?: (props: ViewProps<Data>) => string | undefined;
  /** Reads the page's data. Never rejects: failures are {@link Loaded} values. */
  readonly load: (api: Api, request: PageRequest) => Promise<Data>;
  /** Redirect to the page that shows the result: a path relative to the root of the API host. */
  readonly redirect?: (props: ViewProps<Data>) => string | undefined;
  /** The HTTP status if not 200: 404 for a missing resource. */
  readonly status?: (data: Data) => number;
  /** Whether it needs no script and is equal for every client, so that it is rendered once. */
  readonly isStatic?: boolean;
  /** Whether it shows only published data, so that a copy that is a second old may be served to anyone. */
  readonly isShared?: boolean;
  readonly View: ComponentType<ViewProps<Data>>;
}

/** Title of a document: the page first, so that tabs can be distinguished. */
export const documentTitle = (name: string): string =>
  name === '' ? 'Fullmatch' : `${name} · Fullmatch`;

/**
 * The `load` of a page in browsers, whose bundle omits the code that reads the data: they get it with the page.
 */
export function onlyInTheService(): never {
  throw new Error('only the service reads the data of a page');
}

/** Preserves the type of a page's data between its parts. */
export function definePage<Data>(page: Page<Data>): Page {
  return page as unknown as Page;
}

/** The parameters of a path that matches a template, or undefined. */
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
