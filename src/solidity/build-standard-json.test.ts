import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  buildStandardJson,
  findDeployableContracts,
  findMissingImports,
  PlainSourcesError,
  pragmaOf,
} from './build-standard-json.ts';

const LIBRARY = `0x${'ab'.repeat(20)}`;

describe('buildStandardJson', () => {
  test('writes the given settings and leaves the rest to the compiler', () => {
    const input = buildStandardJson({
      sources: { 'a.sol': 'library L {} contract A {}' },
      optimizer: { enabled: true, runs: 999 },
      evmVersion: 'paris',
      viaIR: true,
      libraries: { L: LIBRARY },
      remappings: ['@oz/=lib/oz/'],
    });
    expect(input).toEqual({
      language: 'Solidity',
      sources: { 'a.sol': { content: 'library L {} contract A {}' } },
      settings: {
        optimizer: { enabled: true, runs: 999 },
        evmVersion: 'paris',
        viaIR: true,
        libraries: { 'a.sol': { L: LIBRARY } },
        remappings: ['@oz/=lib/oz/'],
        outputSelection: { '*': { '*': ['*'] } },
      },
    });
    const plain = buildStandardJson({ sources: { 'a.sol': '' }, evmVersion: 'Default' });
    expect(plain.settings).toEqual({
      optimizer: { enabled: false, runs: 200 },
      outputSelection: { '*': { '*': ['*'] } },
    });
  });

  test('leaves out libraries of an explorer that none or several sources declare', () => {
    const sources = { 'a.sol': 'library A {}', 'b.sol': 'library B {}', 'c.sol': 'library B {}' };
    const libraries = { A: LIBRARY, B: LIBRARY, N: '', 'd.sol:D': LIBRARY };
    const { settings } = buildStandardJson({ sources, libraries, skipUnplacedLibraries: true });
    expect(settings['libraries']).toEqual({ 'a.sol': { A: LIBRARY }, 'd.sol': { D: LIBRARY } });
  });

  test('rejects missing sources, undeclared or ambiguous libraries and invalid addresses', () => {
    expect(() => buildStandardJson({ sources: {} })).toThrow(PlainSourcesError);
    const sources = { 'a.sol': 'contract A {}', 'b.sol': 'library B {}', 'c.sol': 'library B {}' };
    expect(() => buildStandardJson({ sources, libraries: { L: LIBRARY } })).toThrow('No source');
    expect(() => buildStandardJson({ sources, libraries: { B: LIBRARY } })).toThrow('Several');
    expect(() => buildStandardJson({ sources, libraries: { 'b.sol:B': '0x12' } })).toThrow(
      'needs an address',
    );
  });

  test('keeps every source unchanged', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { minKeys: 1 }),
        (sources) => {
          const built = buildStandardJson({ sources });
          const texts = Object.entries(built.sources).map(([path, { content }]) => [path, content]);
          expect(texts).toEqual(Object.entries(sources));
        },
      ),
    );
  });
});

describe('findDeployableContracts', () => {
  test('finds deployable declarations, ignoring comments and strings', () => {
    const text = `
      // contract Commented {}
      /* library Commented2 {} */
      abstract contract Base {}
      interface I {}
      contract A is Base { string s = "\\" contract Quoted {}"; }
      library L {} contract /* named */ B{}`;
    const names = findDeployableContracts({ 'a.sol': text }).map(({ name }) => name);
    expect(names).toEqual(['A', 'L', 'B']);
  });
});

describe('findMissingImports', () => {
  test('lists missing imports after resolving relative paths and remappings', () => {
    const sources = {
      'src/A.sol': `
        import "./B.sol";
        import {X} from "../lib/X.sol";
        import * as y from '@oz/token/ERC20.sol';
        import "@oz/token/ERC20.sol";
        // import "./not.sol";
        import "there/C.sol";`,
      'src/B.sol': '',
      'there/C.sol': 'import "./D.sol";',
    };
    expect(findMissingImports({ sources })).toEqual([
      { name: '../lib/X.sol', from: 'src/A.sol', path: 'lib/X.sol' },
      { name: '@oz/token/ERC20.sol', from: 'src/A.sol', path: '@oz/token/ERC20.sol' },
      { name: './D.sol', from: 'there/C.sol', path: 'there/D.sol' },
    ]);
    const remapped = { ...sources, 'oz/token/ERC20.sol': '', 'lib/X.sol': '', 'there/D.sol': '' };
    expect(findMissingImports({ sources: remapped, remappings: ['@oz/=oz/'] })).toEqual([]);
  });

  // If the search started over at each occurrence, this would not end.
  test('terminates on texts with many repetitions', () => {
    for (const unit of ['import ', 'import {', '/*', '"', 'contract ', 'pragma solidity ', '//']) {
      const text = unit.repeat(200_000);
      expect(findMissingImports({ sources: { 'a.sol': text } }), unit).toEqual([]);
      expect(findDeployableContracts({ 'a.sol': text }).length, unit).toBeLessThanOrEqual(200_000);
      expect(pragmaOf(text), unit).toBeUndefined();
    }
  });
});

describe('pragmaOf', () => {
  test('reads the version range, ignoring comments', () => {
    expect(pragmaOf('// pragma solidity 0.4.11;\npragma solidity >=0.8.0 <0.9.0;')).toBe(
      '>=0.8.0 <0.9.0',
    );
    expect(pragmaOf('contract A {}')).toBeUndefined();
  });
});
