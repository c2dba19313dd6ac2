import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeRpcAnswer, encodeRpcCall } from './rpc-answer.ts';

function decode(text: string): ReturnType<typeof decodeRpcAnswer> {
  return decodeRpcAnswer(Buffer.from(text), 7);
}

describe('JSON-RPC response', () => {
  test('accepts a result of any shape', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (result) => {
        const text = JSON.stringify({ jsonrpc: '2.0', id: 7, result });
        const sent = JSON.parse(text) as { result: unknown };
        expect(decode(text)).toEqual({ kind: 'result', result: sent.result });
      }),
    );
  });

  test('accepts a result with error: null', () => {
    expect(decode('{"jsonrpc":"2.0","id":7,"result":null,"error":null}')).toEqual({
      kind: 'result',
      result: null,
    });
  });

  test('drops the text of an error', () => {
    const text = '{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"key canary"}}';
    expect(decode(text)).toEqual({ kind: 'error', errorCode: -32000, throttled: false });
  });

  test.each([
    [-32_005, 'limit'],
    [429, 'x'],
    [-32_000, 'Too Many Requests, wait'],
    [-32_090, 'rate-limit hit'],
    [-32_000, 'daily request limit exceeded'],
  ])('counts error %d %s as throttling', (code, message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 7, error: { code, message } });
    expect(decode(text)).toMatchObject({ throttled: true });
  });

  test.each([
    '',
    'null',
    '[]',
    '"x"',
    '{}',
    '<!doctype html><title>Just a moment...</title>',
    '{"jsonrpc":"2.0","id":7,"result":',
    '{"jsonrpc":"2.0","id":8,"result":1}',
    '{"jsonrpc":"2.0","id":"7","result":1}',
    '{"jsonrpc":"2.0","id":null,"result":1}',
    '{"jsonrpc":"1.0","id":7,"result":1}',
    '{"id":7,"result":1}',
    '{"jsonrpc":"2.0","id":7}',
    '{"jsonrpc":"2.0","id":7,"result":1,"error":{"code":1,"message":"x"}}',
    '{"jsonrpc":"2.0","id":7,"error":"x"}',
    '{"jsonrpc":"2.0","id":7,"error":{"message":"x"}}',
    '[{"jsonrpc":"2.0","id":7,"result":1}]',
    '{"jsonrpc":"2.0","id":7,"result":1}}',
    '{"jsonrpc":"2.0","id":7,"result":1} {"jsonrpc":"2.0","id":7,"result":2}',
  ])('rejects %j', (text) => {
    expect(decode(text)).toBeUndefined();
  });

  test('rejects invalid UTF-8', () => {
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":7,"result":"x"}');
    bytes[bytes.indexOf('x')] = 0xff;
    expect(decodeRpcAnswer(bytes, 7)).toBeUndefined();
  });

  test('rejects any truncation', () => {
    const text = '{"jsonrpc":"2.0","id":7,"result":{"number":"0x1"}}';
    for (let length = 0; length < text.length; length += 1) {
      expect(decode(text.slice(0, length))).toBeUndefined();
    }
  });

  test('encodes a call with its id', () => {
    expect(JSON.parse(encodeRpcCall(7, 'eth_chainId', []))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      method: 'eth_chainId',
      params: [],
    });
  });
});
