import { expect, test } from 'vitest';
import { createProposalReader } from './propose-compiler.ts';
import { type VerificationParts } from './verify-contract.ts';

const ADDRESS = `0x${'11'.repeat(20)}` as const;
const OTHER_ADDRESS = `0x${'22'.repeat(20)}` as const;

/** A reader whose reads complete on command. */
function prepare() {
  const readings: ((error?: Error) => void)[] = [];
  const parts = {
    findSupportedChain: () => ({}),
    quorumOf: () => undefined,
    readDeployedCode: () =>
      new Promise((resolve, reject) => {
        readings.push((error) => (error ? reject(error) : resolve({ code: Buffer.from('00') })));
      }),
  } as unknown as VerificationParts;
  const reader = createProposalReader(parts, async () => [], new AbortController().signal);
  const requester = (client = '192.0.2.1', signal = new AbortController().signal) => ({
    ...{ client, signal },
  });
  return { reader, readings, requester };
}

test('concurrent requests share one lookup, even if the first disconnects', async () => {
  const { reader, readings, requester } = prepare();
  const leaving = new AbortController();
  const first = reader.propose(1, ADDRESS, requester('192.0.2.1', leaving.signal));
  const second = reader.propose(1, ADDRESS, requester('198.51.100.1'));
  await new Promise(setImmediate);
  leaving.abort(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  readings[0]?.();
  expect(await second).toEqual({ codeBytes: 2, from: 'none' });
  expect(readings).toHaveLength(1);
});

test('a request that was aborted before the lookup rejects at once', async () => {
  const { reader, readings, requester } = prepare();
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(reader.propose(1, ADDRESS, requester('192.0.2.1', gone))).rejects.toThrow('gone');
  await new Promise(setImmediate);
  readings[0]?.();
});

test('a failure is cached for a while and does not affect other addresses', async () => {
  const { reader, readings, requester } = prepare();
  const failing = reader.propose(1, ADDRESS, requester());
  await new Promise(setImmediate);
  readings[0]?.(new Error('no answer'));
  await expect(failing).rejects.toThrow('no answer');
  await expect(reader.propose(1, ADDRESS, requester())).rejects.toThrow('no answer');
  expect(readings).toHaveLength(1);
  const other = reader.propose(1, OTHER_ADDRESS, requester());
  await new Promise(setImmediate);
  readings[1]?.();
  expect(await other).toEqual({ codeBytes: 2, from: 'none' });
});

test('a client with many requests does not block other clients', async () => {
  const { reader, readings, requester } = prepare();
  const addressOf = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as const;
  const many = Array.from({ length: 20 }, (_, index) =>
    reader.propose(1, addressOf(index), requester()),
  );
  await new Promise(setImmediate);
  expect(readings).toHaveLength(4);
  await expect(reader.propose(1, addressOf(20), requester())).rejects.toMatchObject({
    code: 'queue_full',
  });
  const other = reader.propose(1, addressOf(21), requester('198.51.100.1'));
  await new Promise(setImmediate);
  expect(readings).toHaveLength(5);
  readings[4]?.();
  expect(await other).toEqual({ codeBytes: 2, from: 'none' });
  for (let done = 0; done < 21; done += 1) {
    if (done !== 4) readings[done]?.();
    await new Promise(setImmediate);
  }
  await Promise.all(many);
});
