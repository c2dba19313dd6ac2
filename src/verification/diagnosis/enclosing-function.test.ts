import { describe, expect, test } from 'vitest';
import { findEnclosingFunction } from './enclosing-function.ts';

const SOURCE = `// function no() {}
contract Token {
  function(uint) internal pure returns (uint) hook;
  string text = "function fake() { IN_TEXT";
  modifier only() { require(IN_MODIFIER); _; }
  constructor(uint a) { IN_CONSTRUCTOR; }
  function transfer(address to, function(uint) external f) public IN_HEADER returns (bool) {
    unchecked { { IN_BLOCK; } }
    assembly { function inner() -> x { x := IN_ASSEMBLY } }
  } BETWEEN
  function abstractOne() external virtual;
  receive() external payable { IN_RECEIVE; }
  struct S { uint IN_STRUCT; }
}
function free() pure { IN_FREE; }
`;

describe('the enclosing function', () => {
  test.each([
    ['IN_TEXT', undefined],
    ['IN_MODIFIER', 'only'],
    ['IN_CONSTRUCTOR', 'constructor'],
    ['IN_HEADER', 'transfer'],
    ['IN_BLOCK', 'transfer'],
    ['IN_ASSEMBLY', 'transfer'],
    ['BETWEEN', undefined],
    ['IN_RECEIVE', 'receive'],
    ['IN_STRUCT', undefined],
    ['IN_FREE', 'free'],
  ])('of %s is %s', (mark, name) => {
    expect(findEnclosingFunction(SOURCE, SOURCE.indexOf(mark))).toBe(name);
  });

  test('without a name is the fallback function', () => {
    const source = 'contract A { function() payable { x; } }';
    expect(findEnclosingFunction(source, source.indexOf('x;'))).toBe('fallback');
  });

  test('is not found in text that is not Solidity', () => {
    for (const source of ['', '}}}}', 'function', 'function {', '{ { function a( {']) {
      expect(findEnclosingFunction(source, source.length + 1)).toBeUndefined();
    }
  });
});
