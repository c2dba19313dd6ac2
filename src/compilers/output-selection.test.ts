import { expect, test } from 'vitest';
import { narrowOutputSelection } from './output-selection.ts';

const INPUT = {
  language: 'Solidity',
  sources: { 'a.sol': { content: '' } },
  settings: { optimizer: { enabled: true }, outputSelection: { '*': { '*': ['*'], '': ['ast'] } } },
  auxiliary: 1,
};

test('narrows the selection to one contract and leaves everything else as it was', () => {
  const narrowed = narrowOutputSelection(INPUT, { path: 'a.sol', name: 'A' });
  const { outputSelection, ...settings } = narrowed.settings;
  expect(settings).toEqual({ optimizer: { enabled: true } });
  expect(Object.keys(outputSelection as object)).toEqual(['a.sol']);
  expect(narrowed).toMatchObject({ language: 'Solidity', sources: INPUT.sources, auxiliary: 1 });
  expect(INPUT.settings.outputSelection).toEqual({ '*': { '*': ['*'], '': ['ast'] } });
});

test('takes names for names, whatever they are', () => {
  const target = { path: '__proto__', name: '__proto__' };
  const text = JSON.stringify(narrowOutputSelection(INPUT, target).settings);
  expect(text).toContain('"outputSelection":{"__proto__":{"__proto__":["abi"');
});
