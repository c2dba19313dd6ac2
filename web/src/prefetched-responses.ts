import { type Api, describeFailure, lateAnswer, type Loaded } from './api.ts';

/** A response of the public API that the service read for a page. */
export interface PrefetchedResponse {
  /** URL relative to the root of the host. */
  readonly path: string;
  /** When it was requested, and since when no usable response was received. ISO 8601. */
  readonly at: string;
  readonly since: string;
  /** The HTTP status; 0 without a response. 304 if the content still has the tag of the request. */
  readonly status: number;
  readonly tag?: string;
  readonly body?: Uint8Array;
  /** Set if no response came within this time, in milliseconds. */
  readonly timeoutMs?: number;
}

/** The responses available for a page, and a callback for the others. */
export interface PrefetchedResponses {
  readonly find: (path: string) => PrefetchedResponse | undefined;
  /**
   * Called for each missing response.
   * @param tag of the cached content
   */
  readonly miss: (path: string, tag: string | undefined) => void;
}

/** Long documents that change rarely. They are parsed once. */
const DOCUMENTS: readonly string[] = ['v1/registry', 'v1/statistics'];
const parsed = new Map<string, { readonly tag: string; readonly value: unknown }>();
const decoder = new TextDecoder();

/**
 * An API client on prefetched responses. Missing ones are reported and never resolved: the page is rendered
 * again with them.
 */
export function readGiven({ find, miss }: PrefetchedResponses): Api {
  return {
    async get<Value>(path: string): Promise<Loaded<Value>> {
      const answer = find(path);
      const known = parsed.get(path);
      if (answer === undefined || (answer.status === 304 && answer.tag !== known?.tag)) {
        miss(path, answer === undefined ? known?.tag : undefined);
        return new Promise(() => undefined);
      }
      const { at, since, status } = answer;
      try {
        const value = parseOnce(answer);
        if (status === 304 || (status >= 200 && status < 300)) {
          return { state: 'ready', value: value as Value, readAt: at };
        }
        return { state: 'failed', status, ...describeFailure(value), failedAt: at, since };
      } catch {
        return { state: 'failed', ...describeNone(answer), failedAt: at, since };
      }
    },
  };
}

/** Returns the same object for the same version of a document, so that values derived from it can be cached. */
function parseOnce({ path, status, tag, body }: PrefetchedResponse): unknown {
  const known = parsed.get(path);
  if (known !== undefined && known.tag === tag) return known.value;
  const value: unknown = JSON.parse(decoder.decode(body));
  if (status === 200 && tag !== undefined && DOCUMENTS.includes(path)) {
    parsed.set(path, { tag, value });
  }
  return value;
}

function describeNone({ timeoutMs }: PrefetchedResponse): ReturnType<typeof lateAnswer> {
  if (timeoutMs !== undefined) return lateAnswer(timeoutMs);
  return { status: 0, code: 'no_answer', message: 'The service did not respond.' };
}
