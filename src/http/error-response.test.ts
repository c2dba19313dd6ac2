import { Writable } from 'node:stream';
import { HTTPException } from 'hono/http-exception';
import { describe, expect, test, vi } from 'vitest';

import { ERROR_CODES, type ErrorCode, FullmatchError } from '../errors.ts';
import { createLogger, type Logger, silentLogger } from '../log.ts';
import { respondWithProblem, toProblem } from './error-response.ts';

/** Returns a logger, and the lines written to it. */
function keepLines(): { lines: readonly string[]; log: Logger } {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  return { lines, log: createLogger('info', sink) };
}

describe('Error response', () => {
  test.each(Object.keys(ERROR_CODES) as ErrorCode[])(
    'has the status and code of %s',
    async (code) => {
      const problem = toProblem(new FullmatchError(code, 'What is wrong.'), silentLogger);
      const response = respondWithProblem(problem);
      expect(response.status).toBe(ERROR_CODES[code].status);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const text = await response.text();
      expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
      expect(JSON.parse(text)).toEqual({
        type: `urn:fullmatch:error:${code}`,
        title: ERROR_CODES[code].title,
        status: ERROR_CODES[code].status,
        code,
        detail: expect.stringMatching(
          /^What is wrong\.$|; the log of the service says more\.$/,
        ) as unknown,
      });
      expect(response.headers.has('retry-after')).toBe(response.status === 503);
    },
  );

  test('hides paths and servers of infrastructure errors, but logs them', async () => {
    const { lines, log } = keepLines();
    const error = new FullmatchError('database_unreachable', 'No answer at socket /srv/secret.', {
      details: { server: '/srv/secret' },
    });
    const body = await respondWithProblem(toProblem(error, log)).text();
    expect(JSON.parse(body)).toMatchObject({ code: 'database_unreachable', status: 503 });
    expect(body).not.toContain('/srv');
    expect(lines.join('')).toContain('/srv/secret');
  });

  test('logs an infrastructure error once per interval, however many requests hit it', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const { lines, log } = keepLines();
      const meet = (statement: string): void => {
        const details = { statement };
        toProblem(new FullmatchError('database_unreachable', 'No answer.', { details }), log);
      };
      for (let request = 0; request < 100; request += 1) meet('read record');
      meet('read job');
      expect(lines).toHaveLength(2);
      vi.advanceTimersByTime(5_000);
      meet('read record');
      expect(lines).toHaveLength(3);
      expect(JSON.parse(lines[2]!)).toMatchObject({ event: 'request_failed', omitted: 99 });
    } finally {
      vi.useRealTimers();
    }
  });

  test('includes error details without overriding the standard members', async () => {
    const error = new FullmatchError('chain_not_found', 'No.', {
      details: { chainId: 7, status: 200, code: 'ok' },
    });
    const body = await respondWithProblem(toProblem(error, silentLogger)).json();
    expect(body).toMatchObject({ chainId: 7, status: 404, code: 'chain_not_found' });
  });

  test('reduces an unknown error to an id under which it is logged', async () => {
    const { lines, log } = keepLines();
    const problem = toProblem(new Error('secret detail'), log);
    const body = await respondWithProblem(problem).text();
    expect(body).not.toContain('secret');
    const { code, errorId, instance } = JSON.parse(body) as Record<string, string>;
    expect(code).toBe('internal_error');
    expect(instance).toBe(`urn:uuid:${errorId}`);
    const line = JSON.parse(lines[0]!) as { error_id: string; err: { message: string } };
    expect(line.error_id).toBe(errorId);
    expect(line.err.message).toBe('secret detail');
  });

  test('logs an unexpected error once per interval under the id in all its responses', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const { lines, log } = keepLines();
      const fail = (text: string): unknown => toProblem(new TypeError(text), log)['errorId'];
      const failElsewhere = (): unknown => toProblem(new TypeError('elsewhere'), log);
      const ids: unknown[][] = [];
      for (const times of [100, 1]) {
        // Each message contains a different request.
        ids.push(Array.from({ length: times }, (_, index) => fail(`no chain ${index}`)));
        vi.advanceTimersByTime(5_000);
      }
      failElsewhere();
      const [first, later] = ids.map((each) => [...new Set(each)]);
      expect([first?.length, later?.length]).toEqual([1, 1]);
      expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
        { event: 'internal_error', error_id: first?.[0] },
        { event: 'internal_error', error_id: later?.[0], omitted: 99 },
        { event: 'internal_error', err: { message: 'elsewhere' } },
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('bounds memory for unexpected errors from ever-changing locations', () => {
    const { lines, log } = keepLines();
    for (let place = 0; place < 1_000; place += 1) {
      const error = new Error('no');
      error.stack = `Error: no\n    at f (a.ts:${place}:1)`;
      toProblem(error, log);
      toProblem(error, log);
    }
    expect(lines).toHaveLength(1_000);
  });

  test("reports the router's error for an unreadable body as a client error", () => {
    const error = new HTTPException(400, { message: 'Malformed JSON in request body' });
    expect(toProblem(error, silentLogger).code).toBe('malformed_request');
  });
});
