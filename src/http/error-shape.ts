import { type Answer, JSON_TYPE, makeAnswer, type ResponseHeaders } from './answer.ts';
import { type Problem, renderProblem } from './error-response.ts';

/** How errors are said under some paths, where the clients of another interface need its own shape. */
export interface ErrorShape {
  /** Whether a path, without the prefix of the host, belongs to that interface. */
  readonly covers: (path: string) => boolean;
  /** The JSON body for a problem. */
  readonly body: (problem: Problem) => object;
}

/** A problem in the shape of a compatible interface; status and headers are those of the problem. */
export function answerShaped(
  problem: Problem,
  shape: ErrorShape,
  headers: ResponseHeaders = {},
): Answer {
  const rendered = renderProblem(problem, headers);
  const body = Buffer.from(JSON.stringify(shape.body(problem)));
  return makeAnswer(body, {
    status: rendered.status,
    headers: {
      ...rendered.headers,
      'content-type': JSON_TYPE,
      'content-length': String(body.byteLength),
    },
  });
}
