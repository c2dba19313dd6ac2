import { expect, test } from 'vitest';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type JobQuestion } from '../compilation/answer-question.ts';
import { type JobReader } from '../compilation/job-reader.ts';
import { createSubmittedCodeVerifier } from './submitted-code-verifier.ts';
import { type SubmittedCodeRequest } from './submitted-codes.ts';

const GREEDY = '192.0.2.1';
const OTHER = '198.51.100.1';
const NOBODY_CLOSES = new AbortController().signal;
const INPUT: StandardJsonInput = {
  ...{ language: 'Solidity', sources: { 'a.sol': { content: '' } }, settings: {} },
};

/** A request with `count` bytecodes, all of the same bytes, which no contract has. */
const requestOf = (count: number, digits = '00'): SubmittedCodeRequest => ({
  request: { packed: new Uint8Array() } as SubmittedCodeRequest['request'],
  codes: Array.from({ length: count }, () => ({
    address: `0x${'11'.repeat(20)}` as const,
    runtimeCode: `0x${digits}` as const,
  })),
});

/** All dependencies except compiling: every compilation returns `contracts` contracts of a given size. */
const partsOf = (
  compileToBytes: () => Promise<unknown>,
  {
    contracts = 0,
    bytes = 0,
    onRead = (): unknown => undefined,
  }: { contracts?: number; bytes?: number; onRead?: (packed: Buffer) => unknown } = {},
): Parameters<typeof createSubmittedCodeVerifier>[0] => {
  const asked = {
    task: {
      ...{ language: 'solidity', version: '0.8.30', target: { path: '', name: '' } },
      input: INPUT,
    },
  };
  const codes = Array.from({ length: contracts }, (_, index) => ({
    target: { path: 'a.sol', name: `C${index}` },
    ...{ runtime: '5b'.repeat(bytes), creation: '' },
  }));
  return {
    sourceBytes: 5_000_000,
    compilers: { compileToBytes } as never,
    reader: {
      ask: (question: JobQuestion) => {
        if (question.read !== 'task') return Promise.resolve({ errors: [], codes });
        onRead(Buffer.from(question.bytes));
        return Promise.resolve(asked);
      },
    } as unknown as JobReader,
  };
};

test('one network leaves a slot for others, however long its compilations take', async () => {
  const started: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const parts = partsOf(() => released, { onRead: (packed) => started.push(packed.toString()) });
  const verifier = createSubmittedCodeVerifier(parts, 2, NOBODY_CLOSES);
  const ask = (client: string) => {
    const packed = { packed: Buffer.from(client) } as unknown as SubmittedCodeRequest['request'];
    const asked = { ...requestOf(1), request: packed };
    return verifier.verify(asked, { client, signal: NOBODY_CLOSES });
  };
  const answers = [ask(GREEDY), ask(GREEDY), ask(GREEDY), ask(OTHER)];
  await expect.poll(() => started).toContain(OTHER);
  expect(started).toEqual([GREEDY, OTHER]);
  release();
  expect(await Promise.all(answers)).toHaveLength(4);
  expect(started).toEqual([GREEDY, OTHER, GREEDY, GREEDY]);
});

test('yields to other work while comparing many bytecodes with many contracts', async () => {
  const compile = (): Promise<unknown> => Promise.resolve({});
  const parts = partsOf(compile, { contracts: 60, bytes: 100_000 });
  const verifier = createSubmittedCodeVerifier(parts, 1, NOBODY_CLOSES);
  let turns = 0;
  let ended = false;
  const count = (): void => {
    turns += 1;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  const requester = { client: OTHER, signal: NOBODY_CLOSES };
  await verifier.verify(requestOf(30, '5a'.repeat(100_000)), requester);
  ended = true;
  // 180 MB are compared: any processor takes far longer than ten turns of a few milliseconds.
  expect(turns).toBeGreaterThan(10);
});
