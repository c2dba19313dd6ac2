import { describe, expect, test } from 'vitest';
import { FullmatchError } from '../errors.ts';
import { checkCompilerInput, checkImports } from './check-input.ts';
import { type StandardJsonInput } from '../solidity/standard-json.ts';

const GOOD: StandardJsonInput = {
  language: 'Solidity',
  sources: { 'a.sol': { content: 'contract A {}' } },
  settings: {},
};

function judge(language: string, input: unknown): string {
  try {
    checkCompilerInput(language, input as StandardJsonInput);
    return 'accepted';
  } catch (error) {
    if (error instanceof FullmatchError) return error.code;
    throw error;
  }
}

describe('Compiler input', () => {
  test('in Solidity or Yul with source texts is accepted', () => {
    expect(judge('solidity', GOOD)).toBe('accepted');
    expect(judge('yul', { ...GOOD, language: 'Yul' })).toBe('accepted');
    const odd = JSON.parse(
      '{"__proto__": {"content": ""}, "../../x": {"content": "a"}}',
    ) as unknown;
    expect(judge('solidity', { ...GOOD, sources: odd })).toBe('accepted');
  });

  test.each(['Solidity', 'fe', '', '__proto__', 'constructor'])(
    'in language %j is unsupported',
    (language) => {
      expect(judge(language, GOOD)).toBe('unsupported_language');
    },
  );

  test.each([
    ['no object', null],
    ['a text', '{}'],
    ['another language', { ...GOOD, language: 'Yul' }],
    ['no language', { ...GOOD, language: undefined }],
    ['no sources', { ...GOOD, sources: undefined }],
    ['an array of sources', { ...GOOD, sources: [{ content: '' }] }],
    ['no source', { ...GOOD, sources: {} }],
    ['a source that is null', { ...GOOD, sources: { 'a.sol': null } }],
    ['a source without content', { ...GOOD, sources: { 'a.sol': {} } }],
    ['content that is not text', { ...GOOD, sources: { 'a.sol': { content: 1 } } }],
    ['urls', { ...GOOD, sources: { 'a.sol': { urls: ['https://host.example/a.sol'] } } }],
    ['urls beside content', { ...GOOD, sources: { 'a.sol': { content: '', urls: [] } } }],
    ['no settings', { ...GOOD, settings: undefined }],
    ['the model checker', { ...GOOD, settings: { modelChecker: { engine: 'all' } } }],
    ['an unreadable model checker', { ...GOOD, settings: { modelChecker: 'chc' } }],
    ['a list of engines', { ...GOOD, settings: { modelChecker: { engine: ['none'] } } }],
  ])('with %s is invalid', (_what, input) => {
    expect(judge('solidity', input)).toBe('invalid_compiler_input');
  });

  test('with the model checker off is accepted', () => {
    expect(judge('solidity', { ...GOOD, settings: { modelChecker: { engine: 'none' } } })).toBe(
      'accepted',
    );
    expect(judge('solidity', { ...GOOD, settings: { modelChecker: { timeout: 1 } } })).toBe(
      'accepted',
    );
  });

  test('may have a source path that looks like a URL', () => {
    const sources = { 'https://host.example/a.sol': { content: 'contract A {}' } };
    expect(judge('solidity', { ...GOOD, sources })).toBe('accepted');
  });
});

test("leaves a missing path import to the compiler's error", () => {
  const message = 'Source "b.sol" not found: File not supplied initially.';
  expect(() =>
    checkImports({ errors: [{ severity: 'error', type: 'ParserError', message }] }),
  ).not.toThrow();
});
