import { describe, expect, test } from 'vitest';
import { FullmatchError } from '../../errors.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { dependsOnOtherFiles } from './extra-file.ts';

const INPUT: StandardJsonInput = {
  language: 'Solidity',
  sources: { 'A.sol': { content: 'contract A {}' } },
  settings: {},
};
const codeOf = (code: string) => {
  const side = { code, linkReferences: {}, auxdata: {} };
  return { codes: { runtime: side, creation: side } };
};
const TASK = { language: 'solidity', version: '0.8.20' };

describe('Dependency on files that are not imported', () => {
  test('is detected if another file changes the bytecode', async () => {
    const given: StandardJsonInput[] = [];
    const compile = (input: StandardJsonInput) => {
      given.push(input);
      return Promise.resolve(codeOf('6002'));
    };
    expect(await dependsOnOtherFiles(TASK, INPUT, codeOf('6001'), compile)).toBe(true);
    const [first, ...others] = Object.keys(given[0]?.sources ?? {}).sort();
    expect(others).toEqual(['A.sol']);
    expect(given[0]?.sources[first ?? '']?.content).toContain('contract');
  });

  test('is not reported if other files change nothing or the compilation fails', async () => {
    const same = () => Promise.resolve(codeOf('6001'));
    expect(await dependsOnOtherFiles(TASK, INPUT, codeOf('6001'), same)).toBe(false);
    const failing = () => Promise.reject(new FullmatchError('compiler_timeout', 'too long'));
    expect(await dependsOnOtherFiles(TASK, INPUT, codeOf('6001'), failing)).toBe(false);
  });

  test('rejects with the reason if the verification is aborted', async () => {
    const stopped = () => Promise.reject(new RangeError('stopped'));
    await expect(dependsOnOtherFiles(TASK, INPUT, codeOf('6001'), stopped)).rejects.toThrow(
      'stopped',
    );
  });

  test.each([
    ['Yul', { language: 'yul', version: '0.8.20' }],
    ['a compiler whose metadata lists all files', { language: 'solidity', version: '0.4.11' }],
  ])('is not checked for %s', async (_what, task) => {
    const compile = () => Promise.resolve(codeOf('6002'));
    expect(await dependsOnOtherFiles(task, INPUT, codeOf('6001'), compile)).toBe(false);
  });
});
