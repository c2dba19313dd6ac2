import { recordFailure, type FailureTimes } from '../../src/lib/failure-times.ts';

/** A part of a page's data: read, or not, with the reason that the service gave. Plain data, so that it travels in the page. */
export type Loaded<Value> =
  | { readonly state: 'ready'; readonly value: Value; readonly readAt: string }
  | {
      readonly state: 'failed';
      /** 0 where no answer came, or came too late. */
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly failedAt: string;
      /** When it first failed so, as far as it was asked for. */
      readonly since: string;
    };

/** Asks the public API of the service. */
export interface Api {
  /** Reads JSON at a path below the root of the API host, such as `v1/statistics`. Never rejects, and never waits for ever. */
  get<Value>(path: string): Promise<Loaded<Value>>;
}

interface ApiOptions {
  /** How long an answer may take. */
  readonly timeoutMs?: number;
  /** What failed before. */
  readonly outages?: FailureTimes;
}

/** Over a network that is slow, but there. */
const TIMEOUT_MS = 30_000;

/** An API over anything that answers as `fetch` does. */
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

/** What is said of an answer that did not come in time. */
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

/** What a body without what was asked for says: a problem of RFC 9457, or an error of the compatible interfaces. */
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
