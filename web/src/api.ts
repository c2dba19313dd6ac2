import { noteOutage, type Outages } from './outages.ts';

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
  readonly outages?: Outages;
}

/** Over a network that is slow, but there. */
const TIMEOUT_MS = 30_000;

/** An API over anything that answers as `fetch` does: the browser's own, or the service's routes without a network. */
export function createApi(
  ask: (path: string) => Promise<Response>,
  { timeoutMs = TIMEOUT_MS, outages = new Map() }: ApiOptions = {},
): Api {
  return {
    async get<Value>(path: string): Promise<Loaded<Value>> {
      const at = new Date().toISOString();
      const read = await within(timeoutMs, readJson(ask, path));
      const { isOutage, ...answer } = read;
      const since = noteOutage(outages, path, at, isOutage);
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
    const body = await parseOnce(path, response);
    if (response.ok) return { isOutage: false, value: body };
    const { status } = response;
    return { isOutage: status >= 500, status, ...describe(body) };
  } catch {
    return noAnswer('no_answer', 'The service gave no answer.');
  }
}

/** Long documents that the service makes once after a change. */
const DOCUMENTS: readonly string[] = ['v1/registry', 'v1/statistics'];
const parsed = new Map<string, { readonly tag: string; readonly body: unknown }>();

/** The same object for the same version of a document, so that what is made of it can be kept with it. */
async function parseOnce(path: string, response: Response): Promise<unknown> {
  const tag = response.headers.get('etag');
  const known = parsed.get(path);
  if (known !== undefined && known.tag === tag) return known.body;
  const body: unknown = await response.json();
  if (response.ok && tag !== null && DOCUMENTS.includes(path)) parsed.set(path, { tag, body });
  return body;
}

const noAnswer = (code: string, message: string): Answer => ({
  isOutage: true,
  status: 0,
  code,
  message,
});

async function within(timeoutMs: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Answer>((resolve) => {
    const message = `The answer took longer than ${timeoutMs / 1000} s.`;
    timer = setTimeout(() => resolve(noAnswer('late', message)), timeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Problems of RFC 9457, and the error bodies of the compatible interfaces. */
function describe(body: unknown): { code: string; message: string } {
  const given = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const text = (...names: string[]): string | undefined => {
    const values = names.map((name) => given[name]);
    return values.find((value): value is string => typeof value === 'string');
  };
  return {
    code: text('code', 'customCode') ?? 'unknown',
    message: text('detail', 'message', 'error') ?? 'The service gave no reason.',
  };
}
