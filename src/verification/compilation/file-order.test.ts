import { expect, test } from 'vitest';
import { FullmatchError } from '../../errors.ts';
import { type CompilationTask } from './compilation-task.ts';
import { dependsOnFileOrder, tryOtherFileOrder } from './file-order.ts';
import { type NeededSources, type Trial } from './needed-sources.ts';

const taskOf = (version: string, settings: object = { viaIR: true }): CompilationTask => ({
  language: 'solidity',
  version,
  target: { path: 'a.sol', name: 'A' },
  input: { language: 'Solidity', sources: { 'a.sol': { content: '' } }, settings: { ...settings } },
});

test.each([
  ['0.7.5+commit.eb77ed08', { viaIR: true }, true],
  ['0.8.21+commit.d9974bed', { viaIR: true }, true],
  ['0.8.22+commit.4fc1097e', { viaIR: true }, false],
  ['0.8.20+commit.a1b79de6', {}, false],
])('bytecode of %s %j depends on the file order: %s', (version, settings, follows) => {
  expect(dependsOnFileOrder({ language: 'solidity', version, settings })).toBe(follows);
});

/**
 * Runs the search for a contract that matches when compiled from its own source on, or for which no compiler
 * can do so.
 */
async function find(hasSameMetadata: boolean, compile: () => Promise<unknown>) {
  const task = taskOf('0.8.20+commit.a1b79de6');
  const compiled = { contract: {}, sourceIds: {}, compileTimeMs: 1, isFromRoot: false };
  const trial = {
    compile: () => Promise.resolve(compiled),
    judge: (_: unknown, { isFromRoot }: { isFromRoot: boolean }) => ({
      match: isFromRoot ? 'full' : null,
    }),
    hasSameMetadata: () => hasSameMetadata,
  } as unknown as Trial;
  const found = { input: task.input, compiled, judgement: { match: null }, compileTimeMs: 1 };
  let compilations = 0;
  const tried = await tryOtherFileOrder(
    task,
    { found: { ...found, dropped: [] } as unknown as NeededSources, trial },
    ({ isRootAlone }) =>
      async () => {
        expect(isRootAlone).toBe(true);
        compilations += 1;
        return (await compile()) as never;
      },
  );
  return [tried.found.judgement.match, compilations];
}

const fromRoot = () =>
  Promise.resolve({ contract: {}, sourceIds: {}, compileTimeMs: 1, isFromRoot: true });

test('recompiles from its own source if the metadata equals the on-chain metadata', async () => {
  expect(await find(true, fromRoot)).toEqual(['full', 1]);
});

test('does not recompile a contract with different metadata', async () => {
  expect(await find(false, fromRoot)).toEqual([null, 0]);
});

test('keeps the mismatch if the compiler is missing, but propagates timeouts', async () => {
  const missing = new FullmatchError('unsupported_compiler_version', 'It is not here.');
  expect(await find(true, () => Promise.reject(missing))).toEqual([null, 1]);
  const late = new FullmatchError('compiler_timeout', 'It took too long.');
  await expect(find(true, () => Promise.reject(late))).rejects.toBe(late);
});
