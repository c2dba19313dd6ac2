import { type Answer, JSON_TYPE, makeAnswer, type ResponseHeaders } from './answer.ts';
import { type Problem, type RenderedProblem, renderProblem } from './error-response.ts';

/** The error format of some paths, whose clients need that of another interface. */
export interface ErrorShape {
  /** Whether a method and path, without the prefix of the host, belong to that interface. */
  readonly covers: (method: string, path: string) => boolean;
  /** The JSON body for a problem. */
  readonly body: (problem: Problem) => object;
  /** The status of every error, where clients of that interface look only into the body; else the problem's. */
  readonly status?: number;
}

/** The bytes and headers of a problem in the shape that holds, if one does; headers are the problem's. */
export function renderShaped(
  problem: Problem,
  shape: ErrorShape | undefined,
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

/** The same as an answer of an app. */
export function answerShaped(
  problem: Problem,
  shape: ErrorShape | undefined,
  headers: ResponseHeaders = {},
): Answer {
  const rendered = renderShaped(problem, shape, headers);
  return makeAnswer(rendered.body, rendered);
}
