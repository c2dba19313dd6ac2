/** A part of a page's data: read, or not, with the reason that the service gave. Plain data, so that it travels in the page. */
export type Loaded<Value> =
  | { readonly state: 'ready'; readonly value: Value; readonly readAt: string }
  | {
      readonly state: 'failed';
      /** 0 where no answer came. */
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly failedAt: string;
    };

/** Asks the public HTTP interface of the service. */
export interface Api {
  /** Reads JSON at a path below the root of the API host, such as `v1/statistics`. Never rejects. */
  get<Value>(path: string): Promise<Loaded<Value>>;
}

/** An API over anything that answers as `fetch` does: the browser's own, or the service's routes without a network. */
export function createApi(ask: (path: string) => Promise<Response>): Api {
  return {
    async get<Value>(path: string): Promise<Loaded<Value>> {
      const at = new Date().toISOString();
      try {
        const response = await ask(path);
        const body: unknown = await response.json();
        if (response.ok) return { state: 'ready', value: body as Value, readAt: at };
        return { state: 'failed', status: response.status, ...describe(body), failedAt: at };
      } catch {
        return {
          state: 'failed',
          status: 0,
          code: 'no_answer',
          message: 'The service gave no answer.',
          failedAt: at,
        };
      }
    },
  };
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
