import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeAbi } from '../../web/src/contract/abi-signatures.ts';
import { buildFileTree, type TreeNode } from '../../web/src/contract/file-tree.ts';
import { loadHighlighter, plainLines } from '../../web/src/contract/highlight.ts';

function pathsOf(nodes: readonly TreeNode[], above = ''): string[] {
  return nodes.flatMap(({ name, path, children }) => [
    ...(path === undefined ? [] : [`${above}${name}`]),
    ...pathsOf(children, `${above}${name}/`),
  ]);
}

describe('the tree of sources', () => {
  test('joins folders with one child, and keeps odd parts as they are', () => {
    expect(buildFileTree(['a/b/C.sol', 'a/b/D.sol', '../x.sol', '/abs.sol', 'a'])).toEqual([
      {
        name: 'a/b',
        children: [
          { name: 'C.sol', path: 'a/b/C.sol', children: [] },
          { name: 'D.sol', path: 'a/b/D.sol', children: [] },
        ],
      },
      { name: '..', children: [{ name: 'x.sol', path: '../x.sol', children: [] }] },
      { name: '', children: [{ name: 'abs.sol', path: '/abs.sol', children: [] }] },
      { name: 'a', path: 'a', children: [] },
    ]);
  });

  test('leaves a path whole that is longer than any project has', () => {
    const long = 'a/'.repeat(1_000_000);
    expect(buildFileTree([long, 'a/b.sol'])).toEqual([
      { name: long, path: long, children: [] },
      { name: 'a', children: [{ name: 'b.sol', path: 'a/b.sol', children: [] }] },
    ]);
  });

  test('holds each path once, as it is', () => {
    const path = fc.string({
      unit: fc.constantFrom('a', 'b', '/', '.', '__proto__'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.uniqueArray(path), (paths) => {
        expect(pathsOf(buildFileTree(paths)).sort()).toEqual([...paths].sort());
      }),
    );
  });
});

describe('the lines of a source', () => {
  test('are its text, with tokens and without', async () => {
    const highlight = await loadHighlighter();
    const text = fc.string({
      unit: fc.constantFrom(
        'contract ',
        'A',
        '{',
        '}',
        '\n',
        '"',
        '/*',
        '*/',
        '//',
        '<script>',
        '1',
      ),
    });
    fc.assert(
      fc.property(text, (source) => {
        for (const lines of [plainLines(source), highlight(source)]) {
          const again = lines.map((line) => line.map((piece) => piece.text).join('')).join('\n');
          expect(again).toBe(source);
        }
      }),
    );
  });

  test('of a long source are all there, and only the first have kinds', async () => {
    const highlight = await loadHighlighter();
    for (const line of ['contract A {}\n', 'contract A {} ']) {
      const source = line.repeat(20_000);
      const lines = highlight(source);
      const again = lines.map((pieces) => pieces.map(({ text }) => text).join('')).join('\n');
      expect(again === source).toBe(true);
      expect(lines.at(-2)?.every(({ kind }) => kind === undefined) ?? true).toBe(true);
    }
  });

  test('have kinds where the grammar of Solidity knows them', async () => {
    const highlight = await loadHighlighter();
    const [[first] = [], second = []] = highlight('contract A {\n  uint256 b; // why\n}');
    expect(first).toEqual({ kind: 'keyword', text: 'contract' });
    expect(second.map(({ kind }) => kind)).toContain('builtin');
    expect(second.at(-1)).toEqual({ kind: 'comment', text: '// why' });
  });
});

describe('an ABI', () => {
  test('is read as its sources would declare it', () => {
    const pair = {
      type: 'tuple[]',
      name: 'pairs',
      components: [{ type: 'uint8' }, { type: 'bool' }],
    };
    expect(
      describeAbi([
        {
          type: 'function',
          name: 'f',
          stateMutability: 'view',
          inputs: [pair],
          outputs: [{ type: 'uint8', name: '' }],
        },
        { type: 'event', name: 'E', inputs: [{ type: 'address', name: 'who', indexed: true }] },
        { type: 'receive', stateMutability: 'payable' },
        'no entry',
      ]),
    ).toEqual([
      { kind: 'function', text: 'f((uint8, bool)[] pairs) view → uint8' },
      { kind: 'event', text: 'E(address indexed who)' },
      { kind: 'receive', text: 'receive() payable' },
    ]);
    expect(describeAbi({ not: 'a list' })).toEqual([]);
  });

  test('of anything at all is not a fault', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void describeAbi(value)));
  });
});
