import { expect, test } from 'vitest';
import { narrowOutputSelection, selectOtherContracts } from './output-selection.ts';

const INPUT = {
  language: 'Solidity',
  sources: { 'a.sol': { content: '' } },
  settings: { optimizer: { enabled: true }, outputSelection: { '*': { '*': ['*'], '': ['ast'] } } },
  auxiliary: 1,
};

test('narrows the selection to one contract and keeps everything else', () => {
  const narrowed = narrowOutputSelection(INPUT, { path: 'a.sol', name: 'A' });
  const { outputSelection, ...settings } = narrowed.settings;
  expect(settings).toEqual({ optimizer: { enabled: true } });
  expect(Object.keys(outputSelection as object)).toEqual(['a.sol']);
  expect(narrowed).toMatchObject({ language: 'Solidity', sources: INPUT.sources, auxiliary: 1 });
  expect(INPUT.settings.outputSelection).toEqual({ '*': { '*': ['*'], '': ['ast'] } });
});

test('treats special names as plain names', () => {
  const target = { path: '__proto__', name: '__proto__' };
  const text = JSON.stringify(narrowOutputSelection(INPUT, target).settings);
  expect(text).toContain('"outputSelection":{"__proto__":{"__proto__":["abi"');
});

const TARGET = { path: 'a.sol', name: 'A' };
const othersOf = (...contents: readonly string[]): unknown => {
  const sources = Object.fromEntries(
    contents.map((content, number) => [`${number}.sol`, { content }]),
  );
  const selected = selectOtherContracts(narrowOutputSelection({ ...INPUT, sources }, TARGET));
  const selection = selected?.settings['outputSelection'] as Record<string, object> | undefined;
  if (selection === undefined) return undefined;
  expect(selection['a.sol']).toHaveProperty('A');
  return Object.keys(selection['*'] ?? {});
};
const LARGE = `// ${'x'.repeat(17_000)}`;

test.each([
  ['one contract alone', ['contract A {}'], undefined],
  ['small sources', ['contract A {}', 'library B {}'], ['*']],
  ['large sources that create nothing', ['contract A {}', `contract B {} ${LARGE}`], undefined],
  [
    'large sources that create contracts',
    [
      `contract A { function f() public { new Boat(1); new ships.Raft{salt: 0}(); } } ${LARGE}`,
      'contract Boat {} contract Raft {} bytes constant c = type( fleet.Ferry ).creationCode;',
    ],
    ['Boat', 'Raft', 'Ferry'],
  ],
  [
    'sources that name a million',
    [
      `contract A {} contract B {} ${Array.from({ length: 1_000_000 }, (_, number) => `new C${number}`).join(' ')}`,
    ],
    Array.from({ length: 200 }, (_, number) => `C${number}`),
  ],
])('for %s selects the other contracts needed', (_what, contents, names) => {
  expect(othersOf(...contents)).toEqual(names);
});
