import { describe, expect, test } from 'vitest';
import { compileInChild, type SolcVersion } from '../../../test/support/compile-in-child.ts';
import { disprovesFullMatch } from './disproved-claim.ts';

/** Control characters, DEL, non-ASCII text and text beyond the basic plane: solc releases escape them differently. */
const TEXT = '\u001b \u001f \u007f é \u{1f600}';
const METADATA = { outputSelection: { '*': { '*': ['metadata', 'evm.deployedBytecode.object'] } } };

interface Output {
  readonly contracts: Record<
    string,
    Record<string, { metadata: string; evm: { deployedBytecode: { object: string } } }>
  >;
}

describe('Claim with reformatted metadata', () => {
  test.each<SolcVersion>(['0.4.11', '0.4.18', '0.8.24', '0.8.37'])(
    'is not disproved by bytecode of solc %s, unless the metadata content differs',
    async (version) => {
      // A vertical tab ends a comment in later releases.
      const tab = version.startsWith('0.4') ? '\u000b' : '';
      const content = `/// ${tab}${TEXT}\ncontract A { uint public x = 7; }`;
      const sources = { '\ue000.sol': { content }, '\u{1f600}.sol': { content: 'contract B {}' } };
      const settings = { ...METADATA, metadata: { useLiteralContent: true } };
      const input = { language: 'Solidity', sources, settings };
      const [output] = await compileInChild<Output>(version, [input]);
      const made = output?.contracts['\ue000.sol']?.['A'];
      const code = Buffer.from(made?.evm.deployedBytecode.object ?? '', 'hex');
      const document = JSON.parse(made?.metadata ?? '') as Record<string, unknown>;
      expect(code.length).toBeGreaterThan(0);
      expect(disprovesFullMatch(code, made?.metadata ?? '')).toBe(false);
      expect(disprovesFullMatch(code, JSON.stringify(document, null, 2))).toBe(false);
      const reversed = Object.fromEntries(Object.entries(document).reverse());
      expect(disprovesFullMatch(code, JSON.stringify(reversed))).toBe(false);
      expect(disprovesFullMatch(code, JSON.stringify({ ...document, version: 2 }))).toBe(true);
    },
  );
});
