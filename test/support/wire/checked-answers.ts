import { createApiApp } from '../../../src/http/api/api-app.ts';
import { type HostApp } from '../../../src/http/host-app.ts';
import { type HttpDependencies } from '../../../src/http/http-dependencies.ts';
import { createRepositoryApp } from '../../../src/http/repository/repository-app.ts';
import { PROBLEM_TYPE } from '../../../src/http/error-response.ts';
import { answerFault, type WireAnswer } from './answer-fault.ts';

const CHECKED_TYPES = new Set(['application/json', PROBLEM_TYPE]);
const EVENT_STREAM = 'text/event-stream';

/** Origins of the services requested through `fetch`. */
const hosts = new Map<string, WireAnswer['host']>();
let isWrapped = false;

/**
 * Validates every response that `fetch` gets from a service with its route's schema. A call whose response
 * deviates rejects.
 * @returns a function that stops this: the ports may be reused afterwards
 */
export function checkAnswersOf(service: {
  readonly apiUrl: string;
  readonly repositoryUrl: string;
}): () => void {
  const origins: string[] = [];
  for (const host of ['api', 'repository'] as const) {
    const url = service[`${host}Url`];
    if (url === '') continue;
    const { origin } = new URL(url);
    origins.push(origin);
    hosts.set(origin, host);
  }
  wrapFetch();
  return () => {
    for (const origin of origins) hosts.delete(origin);
  };
}

function wrapFetch(): void {
  if (isWrapped) return;
  isWrapped = true;
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    const asked = new URL(input instanceof Request ? input.url : input);
    // A redirect may have led elsewhere.
    const { origin, pathname } = response.redirected ? new URL(response.url) : asked;
    const host = hosts.get(origin);
    return host === undefined ? response : checked(host, method, pathname, response);
  };
}

/** The app of the API host with checked responses. */
export const createCheckedApiApp = (deps: HttpDependencies): HostApp =>
  checkedApp('api', createApiApp(deps));

/** The app of the repository host with checked responses. */
export const createCheckedRepositoryApp = (deps: HttpDependencies): HostApp =>
  checkedApp('repository', createRepositoryApp(deps));

function checkedApp(host: WireAnswer['host'], app: HostApp): HostApp {
  return {
    ...app,
    request: async (input, init, env) => {
      const { pathname } = new URL(input, 'http://localhost');
      return checked(host, init?.method ?? 'GET', pathname, await app.request(input, init, env));
    },
  };
}

async function checked(
  host: WireAnswer['host'],
  method: string,
  path: string,
  response: Response,
): Promise<Response> {
  const { status } = response;
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]!;
  const check = (text: string): void => {
    const fault = answerFault({ host, method, path, status, type, text });
    if (fault !== undefined) throw new Error(`the wire contract is broken: ${fault}`);
  };
  if (type === EVENT_STREAM && response.body !== null) return checkedStream(response, check);
  check(CHECKED_TYPES.has(type) ? await response.clone().text() : '');
  return response;
}

/** A stream that fails at the first event that deviates from its schema. */
function checkedStream(response: Response, check: (text: string) => void): Response {
  const decoder = new TextDecoder();
  let text = '';
  const body = response.body!.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        text += decoder.decode(chunk, { stream: true });
        check(text);
        text = text.slice(text.lastIndexOf('\n\n') + 2);
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(body, response);
}
