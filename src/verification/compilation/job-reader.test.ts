import { afterAll, describe, expect, test } from 'vitest';
import { bytesToHex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { createJobReader } from './job-reader.ts';
import { packRequest, type VerificationRequest } from '../verification-request.ts';

const reader = createJobReader();
afterAll(() => reader.close());

const never = new AbortController().signal;
const sourceBytes = 10_000_000;
const LARGE = 2_000_000;

function requestOf(content: string, hash = bytesToHex(keccak256(Buffer.from(content)))) {
  const request: VerificationRequest = {
    chainId: 1,
    address: `0x${'1'.repeat(40)}`,
    compilation: {
      kind: 'metadata',
      sources: { 'a.sol': content },
      metadata: {
        language: 'Solidity',
        compiler: { version: '0.8.37' },
        settings: { compilationTarget: { 'a.sol': 'A' } },
        sources: { 'a.sol': { keccak256: hash } },
      },
    },
  };
  return packRequest(request).packed;
}

const taskOf = (bytes: Uint8Array) => ({ read: 'task', bytes, sourceBytes }) as const;

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => ({ ...(error as object) }),
  );

describe.each([
  ['a small request', 'contract A {}'],
  ['a large request, on the thread', `contract A {} //${'x'.repeat(LARGE)}`],
])('%s', (_, content) => {
  test('produces a task', async () => {
    const read = await reader.ask(taskOf(requestOf(content)), never);
    expect(read).toMatchObject({ chainId: 1, task: { target: { path: 'a.sol', name: 'A' } } });
    expect(read.task !== 'stored' && read.task.input.sources['a.sol']?.content === content).toBe(
      true,
    );
  });

  test('rejects with the failure and its details', async () => {
    const packed = requestOf(content, `0x${'0'.repeat(64)}`);
    expect(await codeOf(reader.ask(taskOf(packed), never))).toMatchObject({
      name: 'VerificationFailure',
      code: 'missing_or_invalid_source',
      data: { invalidSources: ['a.sol'] },
    });
  });
});

test('packs a request on the thread exactly as on the main thread', async () => {
  const request: VerificationRequest = {
    chainId: 1,
    address: `0x${'1'.repeat(40)}`,
    creationTransactionHash: `0x${'2'.repeat(64)}`,
    compilation: {
      kind: 'metadata',
      metadata: JSON.parse('{"b":[1,null],"a":{"__proto__":{"é":"\\ud800"}}}'),
      sources: { 'a.sol': `contract A {} //${'x'.repeat(LARGE)}` },
    },
    origin: 'monitored',
  };
  const here = packRequest(request);
  const packed = await reader.ask({ read: 'pack', request }, never);
  expect(packed).toEqual({ ...here, inputHash: new Uint8Array(here.inputHash) });
});

describe('Large output', () => {
  const target = { path: 'a.sol', name: 'A' };
  const outputOf = (more: object): { bytes: Buffer; version: string } => ({
    bytes: Buffer.from(JSON.stringify({ padding: 'x'.repeat(LARGE), ...more })),
    version: '0.8.37',
  });

  test('is parsed on the thread', async () => {
    const output = outputOf({ contracts: { 'a.sol': { A: { abi: [], ir: 'x' } } } });
    expect(await reader.ask({ read: 'target', ...output, target }, never)).toMatchObject({
      contracts: { 'a.sol': { A: { abi: [] } } },
    });
  });

  test('rejects with the compiler error', async () => {
    const errors = [{ severity: 'error', message: 'std::bad_alloc' }];
    expect(
      await codeOf(reader.ask({ read: 'target', ...outputOf({ errors }), target }, never)),
    ).toMatchObject({
      name: 'FullmatchError',
      code: 'compiler_out_of_memory',
    });
  });

  test('with too many values fails as too large, and the next one is parsed', async () => {
    const bytes = Buffer.from(`[${'[],'.repeat(20_000_000)}[]]`);
    expect(
      await codeOf(reader.ask({ read: 'target', bytes, version: '0.8.37', target }, never)),
    ).toMatchObject({ code: 'compiler_output_too_large' });
    expect(await reader.ask({ read: 'immutables', ...outputOf({}) }, never)).toEqual({
      errors: [],
      types: {},
    });
  });
});
