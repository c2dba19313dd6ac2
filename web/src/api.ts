import { recordFailure, type FailureTimes } from '../../src/lib/failure-times.ts';

/** Part of a page's data: loaded, or failed with the reason. Plain data, so that it can be embedded in the page. */
export type Loaded<Value> =
  | { readonly state: 'ready'; readonly value: Value; readonly readAt: string }
  | {
      readonly state: 'failed';
      /** 0 without a response, or if it came too late. */
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly failedAt: string;
      /** When it first failed with this error, if known. */
      readonly since: string;
    };

/** Client of the service's public API. */
export interface Api {
  /**
   * Reads JSON at a path relative to the root of the API host, such as `v1/statistics`. Never rejects, and
   * always has a timeout.
   */
  get<Value>(path: string): Promise<Loaded<Value>>;
}

interface ApiOptions {
  /** Timeout of a response. */
  readonly timeoutMs?: number;
  /** The earlier failure. */
  readonly outages?: FailureTimes;
}

/** Over a slow but working network. */
const TIMEOUT_MS = 30_000;

/** Creates an API client on anything with the interface of `fetch`. */
export function createApi(
  ask: (path: string) => Promise<Response>,
  { timeoutMs = TIMEOUT_MS, outages = new Map() }: ApiOptions = {},
): Api {
  return {
    async get<Value>(path: string): Promise<Loaded<Value>> {
      const at = new Date().toISOString();
      const read = await within(timeoutMs, readJson(ask, path));
      const { isOutage, ...answer } = read;
      const since = recordFailure(outages, path, at, isOutage);
      if ('value' in answer) return { state: 'ready', value: answer.value as Value, readAt: at };
      return { state: 'failed', ...answer, failedAt: at, since };
    },
  };
}

type Answer = { readonly isOutage: boolean } & (
  | { readonly value: unknown }
  | { readonly status: number; readonly code: string; readonly message: string }
);

async function readJson(ask: (path: string) => Promise<Response>, path: string): Promise<Answer> {
  try {
    const response = await ask(path);
    const body: unknown = await response.json();
    if (response.ok) return { isOutage: false, value: body };
    const { status } = response;
    return { isOutage: status >= 500, status, ...describeFailure(body) };
  } catch {
    return NO_ANSWER;
  }
}

const NO_ANSWER: Answer = {
  isOutage: true,
  status: 0,
  code: 'no_answer',
  message: 'The service did not respond.',
};

/** Message for a response that timed out. */
export const lateAnswer = (
  timeoutMs: number,
): { readonly status: 0; readonly code: string; readonly message: string } => ({
  status: 0,
  code: 'late',
  message: `The response took longer than ${timeoutMs / 1000} s.`,
});

async function within(timeoutMs: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve({ isOutage: true, ...lateAnswer(timeoutMs) }), timeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Message in an error body: a problem of RFC 9457, or an error of the compatible APIs. */
export function describeFailure(body: unknown): { code: string; message: string } {
  const given = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const text = (...names: string[]): string | undefined => {
    const values = names.map((name) => given[name]);
    return values.find((value): value is string => typeof value === 'string');
  };
  return {
    code: text('code', 'customCode') ?? 'unknown',
    message: text('detail', 'message', 'error') ?? 'The service did not give a reason.',
  };
}
