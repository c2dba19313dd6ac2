import { pathPart } from './path-part.ts';
import { type RequestOptions } from './questions.ts';

/** A response that is not the requested document. `code` is the stable code of the service's problem, if it has one. */
export class FullmatchRequestError extends Error {
  override readonly name = 'FullmatchRequestError';
  readonly url: string;
  readonly status: number;
  readonly code: string | undefined;

  constructor(url: string, status: number, code: string | undefined, detail: string) {
    super(`${url} answered ${String(status)}: ${detail}`);
    this.url = url;
    this.status = status;
    this.code = code;
  }
}

/**
 * Parses a response as JSON. If a missing resource is reported by a document, `field` is one that the
 * document has and an error does not: it is then also read at status 404.
 */
export async function readAnswer(
  url: string,
  response: Response,
  field?: string,
): Promise<unknown> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new FullmatchRequestError(url, response.status, undefined, 'the body is not JSON');
  }
  if (response.ok) return body;
  const answer = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  if (response.status === 404 && field !== undefined && field in answer) return body;
  const textOf = (...names: string[]): string | undefined =>
    names.map((name) => answer[name]).find((value) => typeof value === 'string');
  // Problems of RFC 9457, and the errors of the verification API v2.
  const code = textOf('code', 'customCode');
  const detail = textOf('detail', 'message') ?? response.statusText;
  throw new FullmatchRequestError(url, response.status, code, detail);
}

/** Two ways of requesting JSON. `field` is that of {@link readAnswer}. */
export function createAsk(request: typeof fetch) {
  const ask = async (
    url: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
    field?: string,
  ): Promise<unknown> => {
    const headers = { accept: 'application/json', ...init.headers };
    const response = await request(url, { ...init, headers });
    return readAnswer(url, response, field);
  };
  return {
    get: async <Answer>(url: string, call: RequestOptions = {}, field?: string): Promise<Answer> =>
      (await ask(url, call, field)) as Answer,
    post: async <Answer>(url: string, body: object, call: RequestOptions = {}): Promise<Answer> => {
      const headers = { 'content-type': 'application/json' };
      const init = { ...call, method: 'POST', headers, body: JSON.stringify(body) };
      return (await ask(url, init)) as Answer;
    },
  };
}

/** The result of a call, or undefined if the service reports that the resource does not exist. */
export async function orUndefined<Value>(
  call: Promise<Value>,
  code: string,
): Promise<Value | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof FullmatchRequestError && error.code === code) return undefined;
    throw error;
  }
}

/** A path with encoded segments, and the parameters that are set; a list repeats its parameter. */
export function pathOf(parts: readonly (string | number)[], parameters: object = {}): string {
  const path = parts.map((part) => `/${pathPart(part)}`).join('');
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of [value].flat()) if (each !== undefined) query.append(name, String(each));
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** A URL to which paths can be appended. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url.charAt(end - 1) === '/') end -= 1;
  return url.slice(0, end);
}
