import { type Answer, JSON_TYPE, makeResponse, type ResponseHeaders } from './answer.ts';
import { type Problem, type RenderedProblem, renderProblem } from './error-response.ts';

/** Error format of the paths of a foreign API, whose clients expect its own format. */
export interface ErrorFormat {
  /** Returns whether a method and path, without the host's prefix, belong to that API. */
  readonly covers: (method: string, path: string) => boolean;
  /** Returns the JSON body for a problem. */
  readonly body: (problem: Problem) => object;
  /** Status of every error, if clients of that API read only the body; otherwise the status of the problem. */
  readonly status?: number;
}

/** Serializes a problem in the given error format, or in the default one; the headers are those of the problem. */
export function renderInShape(
  problem: Problem,
  shape: ErrorFormat | undefined,
  headers: ResponseHeaders = {},
): RenderedProblem {
  const rendered = renderProblem(problem, headers);
  if (shape === undefined) return rendered;
  const body = Buffer.from(JSON.stringify(shape.body(problem)));
  return {
    status: shape.status ?? rendered.status,
    body,
    headers: {
      ...rendered.headers,
      'content-type': JSON_TYPE,
      'content-length': String(body.byteLength),
    },
  };
}

/** Builds the response for a problem in the given error format. */
export function respondInShape(
  problem: Problem,
  shape: ErrorFormat | undefined,
  headers: ResponseHeaders = {},
): Answer {
  const rendered = renderInShape(problem, shape, headers);
  return makeResponse(rendered.body, rendered);
}
