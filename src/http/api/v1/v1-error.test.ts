import { request as sendRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createCheckedApiApp } from '../../../../test/support/wire/checked-answers.ts';
import { fixtureDependencies, ROOMY_LIMITS } from '../../../../test/support/http-fixture.ts';
import { silentLogger } from '../../../log.ts';
import { listen, type Listener } from '../../listener.ts';

const LARGEST = 20_000;
const ADDRESS = `0x${'1'.repeat(40)}`;

let listener: Listener;
beforeAll(async () => {
  const app = createCheckedApiApp(await fixtureDependencies({ verificationBytes: LARGEST }));
  const limits = { ...ROOMY_LIMITS, requestBytes: LARGEST };
  listener = await listen(app, { host: '127.0.0.1', port: 0, limits }, silentLogger);
});
afterAll(() => listener.close(1000));

const json = { 'content-type': 'application/json' };
const post = (body: string, headers: Record<string, string> = json): RequestInit => ({
  method: 'POST',
  headers,
  body,
});
const complete = (more: object): RequestInit =>
  post(JSON.stringify({ chain: '1', address: ADDRESS, files: { a: '{}' }, ...more }));
const multipart = { 'content-type': 'multipart/form-data; boundary=x' };

const anywhere: readonly [string, number, string, RequestInit][] = [
  ['an unknown path of files', 404, '/files/nothing', {}],
  ['a contract that is not there', 404, `/files/any/1/${ADDRESS}`, {}],
  ['a path below verify', 404, '/verify/nothing', {}],
  ['a path below a look-up', 404, '/check-by-addresses/nothing', {}],
  ['PUT of verify', 405, '/verify', { method: 'PUT' }],
  ['DELETE of a look-up', 405, '/check-all-by-addresses', { method: 'DELETE' }],
  ['POST of files', 405, `/files/tree/any/1/${ADDRESS}`, { method: 'POST' }],
  ['a wrong address', 400, '/check-by-addresses?addresses=0x1&chainIds=1', {}],
  ['a missing parameter', 400, `/check-all-by-addresses?addresses=${ADDRESS}`, {}],
  ['a wrong chain', 400, '/files/contracts/one', {}],
];
const verifying: readonly [string, number, RequestInit][] = [
  ['bad JSON', 400, post('{"address":')],
  ['JSON that is not an object', 400, post('[1]')],
  ['an empty body', 400, post('')],
  ['a body of a type that is not read', 400, post('hello', { 'content-type': 'text/plain' })],
  ['a form without its boundary', 400, post('a', { 'content-type': 'multipart/form-data' })],
  ['a form that is none', 400, post('--x\r\nnonsense', multipart)],
  ['a form with nothing in it', 400, post('--x--\r\n', multipart)],
  ['a wrong address', 400, complete({ address: '0x1' })],
  ['no files', 404, complete({ files: {} })],
  ['files without metadata', 400, complete({})],
  ['a chain that is not supported', 400, complete({ files: { m: metadata() } })],
  ['a body that says it is too large', 413, post(' '.repeat(LARGEST + 1))],
];

function metadata(): string {
  const settings = { compilationTarget: { 'a.sol': 'A' } };
  return JSON.stringify({
    compiler: { version: '0.8.37' },
    language: 'Solidity',
    settings,
    sources: {},
  });
}

async function expectV1(response: Response, status: number): Promise<void> {
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  const body = (await response.json()) as object;
  expect({ status: response.status, body }).toEqual({
    status,
    body: { error: expect.stringMatching(/./) as string },
  });
}

describe.each(['', '/server'])('API v1 at %s/ returns errors in its own format', (prefix) => {
  test.each(anywhere)('%s (%i)', async (_what, status, path, init) => {
    await expectV1(await fetch(`${listener.url}${prefix}${path}`, init), status);
  });

  test.each(verifying)('%s on the verification routes (%i)', async (_what, status, init) => {
    for (const path of [`${prefix}/verify`, `${prefix}/verify/`, `${prefix}/`]) {
      await expectV1(await fetch(`${listener.url}${path}`, init), status);
    }
  });

  test.each([json, multipart])(
    'streamed body that exceeds the limit (413, %j)',
    async (headers) => {
      const body = new ReadableStream({
        pull(controller) {
          controller.enqueue(Buffer.alloc(8_000, 32));
        },
      });
      const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
      await expectV1(await fetch(`${listener.url}${prefix}/verify`, init), 413);
    },
  );

  test('unsupported expectation (417)', async () => {
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve) => {
      const request = sendRequest(
        `${listener.url}${prefix}/verify`,
        { method: 'POST', headers: { expect: 'tea' } },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => (text += part));
          response.on('end', () => resolve({ status: response.statusCode, text }));
        },
      );
      request.end();
    });
    expect(answer.status).toBe(417);
    expect(JSON.parse(answer.text)).toEqual({ error: expect.any(String) as string });
  });
});

describe('Outside API v1', () => {
  test('the page at the root returns a problem document', async () => {
    const response = await fetch(`${listener.url}/`, { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
  });

  test.each(['', '/server'])('an oversized API v2 body returns a v2 error (%s)', async (prefix) => {
    const url = `${listener.url}${prefix}/v2/verify/1/${ADDRESS}`;
    const response = await fetch(url, post(' '.repeat(LARGEST + 1)));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ customCode: 'request_too_large' });
  });
});
