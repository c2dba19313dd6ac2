import { type Api, describeFailure, lateAnswer, type Loaded } from './api.ts';

/** An answer of the public API that the service read for a page. */
export interface PrefetchedResponse {
  /** What was asked for, below the root of the host. */
  readonly path: string;
  /** When it was asked for, and since when it gives no answer that can be used. ISO 8601. */
  readonly at: string;
  readonly since: string;
  /** The HTTP status; 0 where no answer came. 304 where the content is the one of the tag that was asked with. */
  readonly status: number;
  readonly tag?: string;
  readonly body?: Uint8Array;
  /** Set where no answer came within this time, in milliseconds. */
  readonly timeoutMs?: number;
}

/** The answers that are there for a page, and what becomes of the others. */
export interface GivenAnswers {
  readonly find: (path: string) => PrefetchedResponse | undefined;
  /** Told of what is not there. @param tag of the content that is at hand without it */
  readonly miss: (path: string, tag: string | undefined) => void;
}

/** Long documents that the service makes once after a change. They are parsed once as well. */
const DOCUMENTS: readonly string[] = ['v1/registry', 'v1/statistics'];
const parsed = new Map<string, { readonly tag: string; readonly value: unknown }>();
const decoder = new TextDecoder();

/** An API over given answers. What is not among them is told, and never answered: the page is written anew with it. */
export function readGiven({ find, miss }: GivenAnswers): Api {
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

/** The same object for the same version of a document, so that what is made of it can be kept with it. */
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
