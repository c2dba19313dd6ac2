import { expect, test } from 'vitest';
import { type ContractCompiler } from './compile-contract.ts';
import { withOutputCache } from './output-cache.ts';

type Request = Parameters<ContractCompiler['compileToBytes']>[0];

const MIB = 2 ** 20;

/** Compilers that respond on command and record their calls. */
function gatedCompilers(outputBytes = 4) {
  const asked: { readonly answer: () => void; readonly fail: (error: Error) => void }[] = [];
  const compilers: ContractCompiler = {
    prepare: () => () => undefined,
    listVersions: () => Promise.resolve([]),
    obtain: () => Promise.resolve(undefined),
    compileToBytes: ({ version }) =>
      new Promise((resolve, reject) => {
        const output = { bytes: new Uint8Array(outputBytes).fill(7), version, compileTimeMs: 50 };
        asked.push({ answer: () => resolve(output), fail: reject });
      }),
  };
  const remembering = withOutputCache(compilers);
  return { asked, compileToBytes: (each: Request) => remembering.compileToBytes(each) };
}

const request = (content: string, more: Partial<Request> = {}): Request => ({
  ...{ language: 'solidity', version: '0.8.37' },
  input: { language: 'Solidity', sources: { 'a.sol': { content } }, settings: {} },
  ...more,
});
const ended = () => new Promise((resolve) => setImmediate(resolve));

test('compiles an input once for concurrent and later requests and counts its time once', async () => {
  const { asked, compileToBytes } = gatedCompilers();
  const both = [compileToBytes(request('a')), compileToBytes(request('a'))];
  asked[0]?.answer();
  const outputs = await Promise.all([...both, compileToBytes(request('a'))]);
  expect(asked).toHaveLength(1);
  expect(outputs.map(({ compileTimeMs }) => compileTimeMs)).toEqual([50, 0, 0]);
  expect(outputs.map(({ bytes }) => [...bytes])).toEqual(Array(3).fill([7, 7, 7, 7]));
});

test.each([
  ['source', request('b')],
  ['version', request('a', { version: '0.8.30' })],
  ['language', request('a', { language: 'yul' })],
  ['root source', request('a', { rootSource: 'a.sol' })],
])('compiles a different %s separately', async (_what, other) => {
  const { asked, compileToBytes } = gatedCompilers();
  const outputs = [compileToBytes(request('a')), compileToBytes(other)];
  expect(asked).toHaveLength(2);
  for (const { answer } of asked) answer();
  await Promise.all(outputs);
});

test("survives a caller that transfers the output's memory", async () => {
  const { asked, compileToBytes } = gatedCompilers();
  const first = compileToBytes(request('a'));
  asked[0]?.answer();
  structuredClone((await first).bytes, { transfer: [(await first).bytes.buffer as ArrayBuffer] });
  const second = await compileToBytes(request('a'));
  structuredClone(second.bytes, { transfer: [second.bytes.buffer as ArrayBuffer] });
  expect([...(await compileToBytes(request('a'))).bytes]).toEqual([7, 7, 7, 7]);
});

test('does not cache a failure: a waiting request compiles again', async () => {
  const { asked, compileToBytes } = gatedCompilers();
  const first = compileToBytes(request('a'));
  const second = compileToBytes(request('a'));
  asked[0]?.fail(new Error('crashed'));
  await expect(first).rejects.toThrow('crashed');
  await ended();
  expect(asked).toHaveLength(2);
  asked[1]?.answer();
  expect(await second).toMatchObject({ compileTimeMs: 50 });
});

test('aborting a waiting request leaves the running compilation unaffected', async () => {
  const { asked, compileToBytes } = gatedCompilers();
  const first = compileToBytes(request('a'));
  const ending = new AbortController();
  const second = compileToBytes(request('a', { signal: ending.signal }));
  ending.abort(new Error('given up'));
  await expect(second).rejects.toThrow('given up');
  asked[0]?.answer();
  expect(await first).toMatchObject({ compileTimeMs: 50 });
});

test.each([
  ['an output above the bound', 17 * MIB, 2],
  ['an output within the bound', 16 * MIB - 2048, 1],
])('limits the size of cached outputs: %s', async (_what, bytes, times) => {
  const { asked, compileToBytes } = gatedCompilers(bytes);
  const first = compileToBytes(request('a'));
  asked[0]?.answer();
  await first;
  const second = compileToBytes(request('a'));
  await ended();
  asked[1]?.answer();
  await second;
  expect(asked).toHaveLength(times);
});
