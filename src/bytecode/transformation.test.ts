import { describe, expect, test } from 'vitest';
import { replayTransformations, type Transformation } from './transformation.ts';

const CODE = Buffer.from('000102030405', 'hex');

describe('replayTransformations', () => {
  test('replaces and inserts the given values and keeps the rest', () => {
    const replayed = replayTransformations(
      CODE,
      [
        { type: 'replace', reason: 'library', offset: 1, id: 'a.sol:L' },
        { type: 'replace', reason: 'immutable', offset: 4, id: '__proto__' },
        { type: 'insert', reason: 'constructorArguments', offset: 6 },
      ],
      {
        libraries: { 'a.sol:L': '0xaaaa' },
        immutables: JSON.parse('{"__proto__":"0xbb"}') as Record<string, `0x${string}`>,
        constructorArguments: '0xcc',
      },
    );
    expect(replayed.toString('hex')).toBe('00aaaa03bb05cc');
    expect(CODE.toString('hex')).toBe('000102030405');
  });

  test.each<[string, Transformation]>([
    ['without a value', { type: 'replace', reason: 'callProtection', offset: 1 }],
    [
      'without a value of that id',
      { type: 'replace', reason: 'library', offset: 1, id: 'toString' },
    ],
    ['without an id', { type: 'replace', reason: 'library', offset: 1 }],
    ['past the end', { type: 'replace', reason: 'library', offset: 5, id: 'L' }],
    ['before the start', { type: 'replace', reason: 'library', offset: -1, id: 'L' }],
    ['as an insertion in the middle', { type: 'insert', reason: 'library', offset: 3, id: 'L' }],
  ])('rejects a transformation %s', (_why, transformation) => {
    const replay = () =>
      replayTransformations(CODE, [transformation], { libraries: { L: '0xaaaa' } });
    expect(replay).toThrow(RangeError);
  });
});
