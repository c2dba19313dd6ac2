import { describe, expect, test } from 'vitest';
import { readForm } from './read-form.ts';
import { readRequest } from './read-request.ts';

const LIMITS = { depth: 64, values: 1000, sources: 10, sourceBytes: 1000 };

test('accepts boundaries of up to 70 characters', async () => {
  const read = (length: number): Promise<FormData> => {
    const boundary = 'b'.repeat(length);
    const part = 'Content-Disposition: form-data; name="chain"\r\n\r\n1';
    const body = Buffer.from(`--${boundary}\r\n${part}\r\n--${boundary}--\r\n`);
    return readForm(body, `multipart/form-data; boundary=${boundary}`, LIMITS);
  };
  expect((await read(70)).get('chain')).toBe('1');
  await expect(read(71)).rejects.toMatchObject({ code: 'malformed_request' });
});

describe('Forms that are slow to parse', () => {
  const part = (head: string): string =>
    `--b\r\nContent-Disposition: form-data; name="chain"\r\n${head}\r\n1\r\n`;
  const read = (text: string): Promise<FormData> =>
    readForm(Buffer.from(text), 'multipart/form-data; boundary=b', LIMITS);
  const field = 'X-Field: y\r\n';

  test.each([
    ['many header fields', `${part(field.repeat(17))}--b--\r\n`],
    ['many header fields in its last part', `${part('')}${part(field.repeat(17))}--b--\r\n`],
    ['many header fields and no end', part(field.repeat(100_000))],
    ['a long header field', `${part(`X-Field: ${'y'.repeat(4_096)}\r\n`)}--b--\r\n`],
  ])('rejects %s', async (_, text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'malformed_request' });
  });

  test('rejects many plus signs', async () => {
    const plain = (count: number): Promise<FormData> =>
      readForm(
        Buffer.from(`chain=${'+'.repeat(count)}`),
        'application/x-www-form-urlencoded',
        LIMITS,
      );
    expect((await plain(10)).get('chain')).toBe(' '.repeat(10));
    await expect(plain(5_000)).rejects.toMatchObject({ code: 'malformed_request' });
  });

  test('accepts a few extra fields and a long path', async () => {
    const head = `${field.repeat(10)}X-Path: ${'p/'.repeat(1_000)}\r\n`;
    const form = await read(`${part(head)}${part('')}--b--\r\n`);
    expect(form.getAll('chain')).toEqual(['1', '1']);
  });
});

test('accepts standard JSON with source text up to the limit', async () => {
  const read = (length: number): Promise<unknown> => {
    const sources = { 'A.sol': { content: 'a'.repeat(length - 1) }, 'B.sol': { content: 'b' } };
    const body = {
      stdJsonInput: { language: 'Solidity', sources, settings: {} },
      compilerVersion: '0.8.37',
      contractIdentifier: 'A.sol:A',
    };
    const form = { kind: 'standard_json', chainId: 1, address: `0x${'11'.repeat(20)}` } as const;
    return readRequest(Buffer.from(JSON.stringify(body)), form, LIMITS);
  };
  await expect(read(1000)).resolves.toMatchObject({ request: { chainId: 1 } });
  await expect(read(1001)).rejects.toMatchObject({ code: 'request_too_large' });
});
