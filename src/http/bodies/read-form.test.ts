import { expect, it } from 'vitest';
import { readForm } from './read-form.ts';
import { readRequest } from './read-request.ts';

const LIMITS = { depth: 64, values: 1000, sources: 10, sourceBytes: 1000 };

it('takes boundaries of up to 70 characters', async () => {
  const read = (length: number): Promise<FormData> => {
    const boundary = 'b'.repeat(length);
    const part = 'Content-Disposition: form-data; name="chain"\r\n\r\n1';
    const body = Buffer.from(`--${boundary}\r\n${part}\r\n--${boundary}--\r\n`);
    return readForm(body, `multipart/form-data; boundary=${boundary}`, LIMITS);
  };
  expect((await read(70)).get('chain')).toBe('1');
  await expect(read(71)).rejects.toMatchObject({ code: 'malformed_request' });
});

it('takes standard JSON with as much source text as the limit', async () => {
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
