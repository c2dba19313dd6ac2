import { describe, expect, it } from 'vitest';
import { dropUnusedSettings } from './drop-unused-settings.ts';
import { readVerificationTask } from './read-compilation-task.ts';

const PATH = 'A.sol';
const SOURCES = { [PATH]: { content: 'contract A {}' } };
const ADDRESS = `0x${'11'.repeat(20)}`;

function codeOf(settings: Record<string, unknown>, sources: object = SOURCES): unknown {
  try {
    readVerificationTask(
      {
        chainId: 1,
        address: `0x${'22'.repeat(20)}`,
        compilation: {
          kind: 'standard_json',
          compilerVersion: '0.8.37',
          contractIdentifier: `${PATH}:A`,
          input: { language: 'Solidity', sources: { ...SOURCES, ...sources }, settings },
        },
      },
      5_000_000,
    );
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

const libraries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`L${index}`, ADDRESS]));

describe('the settings of a job', () => {
  it('name 1,000 libraries and remappings at the most', () => {
    expect(codeOf({ libraries: { [PATH]: libraries(998) }, remappings: ['a=b'] })).toBeUndefined();
    for (const settings of [
      { libraries: { [PATH]: libraries(1000) } },
      { libraries: Object.fromEntries(Object.keys(libraries(1001)).map((id) => [id, {}])) },
      { remappings: Array.from({ length: 1001 }, () => 'a=b') },
    ]) {
      expect(codeOf(settings)).toBe('invalid_compiler_input');
    }
  });

  it.each(['\0', '\ud800'])('hold no text that cannot be stored (%j)', (text) => {
    expect(codeOf({ remappings: [text] })).toBe('invalid_compiler_input');
    expect(codeOf({ libraries: { [text]: { L: ADDRESS } } })).toBe('invalid_compiler_input');
    expect(codeOf({}, { [`${text}.sol`]: { content: '' } })).toBe('missing_or_invalid_source');
    expect(codeOf({}, { 'B.sol': { content: text } })).toBe('missing_or_invalid_source');
  });
});

/** The input without what a partial match drops; undefined where that is nothing. */
function dropOf(sources: Readonly<Record<string, string>>, remappings: readonly string[]): unknown {
  const compiled = { version: '0.8.37', contract: {}, evm: { bytecode: {}, deployedBytecode: {} } };
  const [path = ''] = Object.keys(sources);
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, content]) => [name, { content }]),
    ),
    settings: { remappings },
  };
  const task = { language: 'solidity', version: '0.8.37', target: { path, name: 'A' }, input };
  return dropUnusedSettings(task, input, compiled as never, { match: 'partial' } as never);
}

it('drops remappings that would take too long to look up in the sources', () => {
  const drop = (characters: number): unknown =>
    dropOf(
      { [PATH]: 'import "used/a.sol";'.padEnd(characters) },
      Array.from({ length: 1000 }, () => 'used/=A'),
    );
  expect(drop(20_000)).toBeUndefined();
  expect(drop(30_000)).toMatchObject({ settings: { remappings: [] } });
});

it.each([
  ['contracts/=AUDITED/'],
  [':contracts/=AUDITED/'],
  [':contracts/=lib/'],
  ['AUDITED:@lib/=lib/'],
  ['@lib/=AUDITED/'],
  ['audited/=lib/'],
])('drops the remapping %s, which leads no import to a source', (remapping) => {
  const sources = { 'contracts/T.sol': 'import "@lib/a.sol";', 'lib/a.sol': '' };
  expect(dropOf(sources, [remapping])).toMatchObject({ settings: { remappings: [] } });
});

it.each([
  ['@lib/=lib/'],
  ['contracts/:@lib/=lib/'],
  ['contracts/old/=lib/'],
  [':@lib/='],
  ['@=li=b/'],
])('keeps the remapping %s, which leads an import to a source', (remapping) => {
  const content = 'import "@lib/a.sol"; import "./old/a.sol";';
  const sources = { 'contracts/T.sol': content, 'lib/a.sol': '', 'li=b/a.sol': '' };
  expect(dropOf(sources, [remapping])).toBeUndefined();
});

it('drops remappings where relative imports are too many or lead too far to look up', () => {
  const name = 'a'.repeat(60);
  const path = `${`${name}/`.repeat(15)}A.sol`;
  const same = '"./"'.repeat(1_000_000);
  const sources = { [path]: `import "./b.sol";${same}`, [`${`${name}/`.repeat(15)}b.sol`]: '' };
  expect(dropOf(sources, [`${name}=${name}`])).toBeUndefined();
  const others = Array.from({ length: 6_000 }, (_, index) => `"./${index}"`).join('');
  const many = { ...sources, [path]: `import "./b.sol";${others}` };
  expect(dropOf(many, [`${name}=${name}`])).toMatchObject({ settings: { remappings: [] } });
});
