import { describe, expect, test } from 'vitest';
import { isReservedRange } from './reserved-ranges.ts';
import { type Transformation } from './transformation.ts';

const AUXDATA = `a2646970667358221220${'11'.repeat(32)}64736f6c634300081e0033`;
const AUXDATA_BYTES = AUXDATA.length / 2;
/** 4 bytes of code, a word of zeros, an auxdata, and enough code after it that it is not at the end. */
const CODE = Buffer.from(`60016002${'00'.repeat(32)}${AUXDATA}${'60'.repeat(600)}`, 'hex');
const of = (reason: Transformation['reason'], offset: number, more = {}): Transformation => ({
  ...{ type: 'replace', reason, offset, id: '1' },
  ...more,
});

describe('Position left open by the compiler', () => {
  test.each<[string, Transformation, number, boolean]>([
    ['a library in zeros', of('library', 4), 20, true],
    ['an immutable in zeros', of('immutable', 4), 32, true],
    ['an auxdata in an auxdata', of('cborAuxdata', 36), AUXDATA_BYTES, true],
    ['a library over code', of('library', 0), 20, false],
    ['an immutable that reaches into code', of('immutable', 5), 32, false],
    ['an immutable of more than a word', of('immutable', 4), 33, false],
    ['an auxdata over code', of('cborAuxdata', 0), 36, false],
    ['an auxdata that reaches beyond one', of('cborAuxdata', 36), AUXDATA_BYTES + 1, false],
    ['a cut of all of the code', of('cborAuxdata', 0, { length: CODE.length }), 53, false],
  ])('%s', (_, transformation, width, isLeft) => {
    expect(isReservedRange(CODE, transformation, width)).toBe(isLeft);
  });
});
