import { expect, test } from 'vitest';
import { compileInChild, type SolcVersion } from '../../../test/support/compile-in-child.ts';
import { linkedAddressLookup } from './configured-libraries.ts';

const FIRST = `0x${'11'.repeat(20)}`;
const LAST = `0x${'22'.repeat(20)}`;
const FILE = 'x:a.sol';
const ID = `${FILE}:Lib`;
const SOURCE =
  'library Lib { function f(uint a) public pure returns (uint) { return a; } } contract C { function g() public pure returns (uint) { return Lib.f(1); } }';
const CHOICES: readonly Readonly<Record<string, Readonly<Record<string, string>>>>[] = [
  { [FILE]: { Lib: FIRST } },
  { [FILE]: { Lib: FIRST }, '~': { Lib: LAST } },
  { '': { Lib: LAST }, [FILE]: { Lib: FIRST } },
  { '~': { 'a.sol:Lib': LAST } },
  { '': { [ID]: LAST }, [FILE]: { Lib: FIRST, 'a.sol:Lib': FIRST } },
  { '\u{10000}': { 'a.sol:Lib': LAST }, '\uffff': { 'a.sol:Lib': FIRST } },
  { [FILE]: { Other: FIRST } },
];

interface Output {
  readonly contracts?: Record<
    string,
    { readonly C: { readonly evm: { readonly bytecode: { readonly object: string } } } }
  >;
}

test.each(['0.4.26', '0.6.12', '0.7.6'] as const satisfies SolcVersion[])(
  'links libraries like solc %s',
  async (version) => {
    const outputs = await compileInChild<Output>(
      version,
      CHOICES.map((libraries) => ({
        language: 'Solidity',
        sources: {
          [FILE]: { content: SOURCE },
        },
        settings: { libraries, outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
      })),
    );
    for (const [index, libraries] of CHOICES.entries()) {
      const code = outputs[index]?.contracts?.[FILE]?.C.evm.bytecode.object ?? '';
      const linked = [FIRST, LAST].find((address) => code.includes(address.slice(2)));
      expect(code).not.toBe('');
      expect(linkedAddressLookup(libraries, version)(ID), JSON.stringify(libraries)).toBe(linked);
    }
  },
);
