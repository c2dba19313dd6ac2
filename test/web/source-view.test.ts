import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeAbi } from '../../web/src/contract/abi-signatures.ts';
import { buildFileTree, type TreeNode } from '../../web/src/contract/file-tree.ts';
import { loadHighlighter, plainLines } from '../../web/src/contract/highlight.ts';
import { showJson } from '../../web/src/contract/shown-json.ts';
import {
  cutPath,
  cutPaths,
  queryOfSource,
  takeWithin,
} from '../../web/src/contract/shown-paths.ts';

function pathsOf(nodes: readonly TreeNode[], above = ''): string[] {
  return nodes.flatMap(({ name, path, children }) => [
    ...(path === undefined ? [] : [`${above}${name}`]),
    ...pathsOf(children, `${above}${name}/`),
  ]);
}

describe('the source tree', () => {
  test('merges folders with a single child and keeps unusual path parts unchanged', () => {
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

  test('keeps an excessively long path whole', () => {
    const long = 'a/'.repeat(1_000_000);
    expect(buildFileTree([long, 'a/b.sol'])).toEqual([
      { name: long, path: long, children: [] },
      { name: 'a', children: [{ name: 'b.sol', path: 'a/b.sol', children: [] }] },
    ]);
  });

  test('contains each path once, unchanged', () => {
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

describe('source lines', () => {
  test('reproduce the text, with and without tokens', async () => {
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

  test('of a long source are complete, and only the first are highlighted', async () => {
    const highlight = await loadHighlighter();
    for (const line of ['contract A {}\n', 'contract A {} ']) {
      const source = line.repeat(20_000);
      const lines = highlight(source);
      const again = lines.map((pieces) => pieces.map(({ text }) => text).join('')).join('\n');
      expect(again === source).toBe(true);
      expect(lines.at(-2)?.every(({ kind }) => kind === undefined) ?? true).toBe(true);
    }
  });

  test('are highlighted according to the Solidity grammar', async () => {
    const highlight = await loadHighlighter();
    const [[first] = [], second = []] = highlight('contract A {\n  uint256 b; // why\n}');
    expect(first).toEqual({ kind: 'keyword', text: 'contract' });
    expect(second.map(({ kind }) => kind)).toContain('builtin');
    expect(second.at(-1)).toEqual({ kind: 'comment', text: '// why' });
  });
});

describe('ABI display', () => {
  test('reads like the declarations in the sources', () => {
    const pair = {
      type: 'tuple[]',
      name: 'pairs',
      components: [{ type: 'uint8' }, { type: 'bool' }],
    };
    expect(
      describeAbi(
        [
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
        ],
        10,
      ),
    ).toEqual([
      { kind: 'function', text: 'f((uint8, bool)[] pairs) view → uint8', isReading: true },
      { kind: 'event', text: 'E(address indexed who)' },
      { kind: 'receive', text: 'receive() payable' },
    ]);
    expect(describeAbi({ not: 'a list' }, 10)).toEqual([]);
  });

  test('never fails on arbitrary values', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void describeAbi(value, 10)));
  });

  test('is limited in size, however large the ABI', () => {
    const wide = (depth: number): object => {
      const components = Array.from({ length: 20 }, () => (depth === 0 ? {} : wide(depth - 1)));
      return { type: 'tuple', components };
    };
    const entry = { type: 'error', name: 'E', inputs: [wide(2)] };
    const described = describeAbi(
      Array.from({ length: 50 }, () => entry),
      10,
    );
    expect(described).toHaveLength(10);
    expect(described[0]?.text).toMatch(/^E\(\(\(\(\?, .*…$/);
    expect(described[0]?.text.length).toBeLessThanOrEqual(1_001);
  });
});

describe('JSON display', () => {
  test('shows the beginning of the formatted JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(200), (value, limit) => {
        const whole = JSON.stringify(value, null, 2);
        expect(showJson(value, limit)).toEqual({
          text: whole.slice(0, limit),
          isWhole: whole.length <= limit,
        });
      }),
    );
  });
});

describe('source paths', () => {
  test('are linked if the link is not too long, and shortened in the middle', () => {
    expect(queryOfSource('a/b.sol', undefined)).toBe('source=a%2Fb.sol');
    expect(queryOfSource('\u200b'.repeat(1_000), undefined)).toBeUndefined();
    expect(queryOfSource('a.sol', '\u200b'.repeat(1_000))).toBeUndefined();
    expect(cutPath('a/b.sol')).toBe('a/b.sol');
    const cut = cutPath(`begin${'x'.repeat(5_000)}end`);
    expect(cut).toMatch(/^beginx+…x+end$/);
    expect(cut.length).toBeLessThanOrEqual(1_001);
  });

  test('that look the same when shortened get a number', () => {
    const long = (middle: string): string => `${'a'.repeat(600)}${middle}${'b'.repeat(600)}`;
    const paths = [long('x'), 'a.sol', long('y'), long('z')];
    const shown = [...cutPaths(paths).values()];
    expect(new Set(shown).size).toBe(paths.length);
    expect(shown[1]).toBe('a.sol');
    expect(shown[2]).toMatch(/^a+…\(2\)…b+$/);
    expect(shown[3]).toMatch(/^a+…\(3\)…b+$/);
  });

  test('are listed as long as there is room, always including the first', () => {
    const sizes = fc.array(fc.nat(20), { minLength: 1 });
    fc.assert(
      fc.property(sizes, fc.nat(60), (entries, room) => {
        const taken = takeWithin(entries, (size) => size, room);
        expect(taken).toEqual(entries.slice(0, taken.length));
        expect(taken.length).toBeGreaterThan(0);
        const used = taken.reduce((sum, size) => sum + size, 0);
        expect(used <= room || taken.length === 1).toBe(true);
      }),
    );
  });
});
