import fc from 'fast-check';
import { type RecompiledCode } from '../../../src/bytecode/recompiled-code.ts';
import { keccak256 } from '../../../src/lib/keccak.ts';

/** The kinds of auxdata that solc has written over the years, as a function of the metadata hash. */
export const AUXDATA_FORMS: Readonly<Record<string, (hash: string) => string>> = {
  '0.4.7': (hash) => `a165627a7a72305820${hash}0029`,
  '0.4.18 experimental': (hash) => `a265627a7a72305820${hash}6c6578706572696d656e74616cf50037`,
  '0.5.9': (hash) => `a265627a7a72305820${hash}64736f6c63430005090032`,
  '0.5.12': (hash) => `a265627a7a72315820${hash}64736f6c634300050c0032`,
  '0.5.12 experimental': (hash) =>
    `a365627a7a72315820${hash}6c6578706572696d656e74616cf564736f6c634300050c0040`,
  '0.6.0': (hash) => `a2646970667358221220${hash}64736f6c63430006000033`,
  'between releases': (hash) =>
    `a2646970667358221220${hash}64736f6c63781d${Buffer.from('0.8.20-develop.2023.5.10+abcd').toString('hex')}004e`,
  hashless: () => 'a164736f6c6343000814000a',
};

/** A library's placeholder in the spelling of solc ≤ 0.4 or ≥ 0.5. */
export function placeholderOf(name: string, spelling: 'name' | 'hash'): string {
  if (spelling === 'name') return `__${name.slice(0, 36)}`.padEnd(40, '_');
  const digits = Buffer.from(keccak256(Buffer.from(name, 'utf8'))).toString('hex');
  return `__$${digits.slice(0, 34)}$__`;
}

export type Segment =
  | { readonly kind: 'code'; readonly hex: string }
  | { readonly kind: 'library'; readonly id: string }
  | { readonly kind: 'immutable'; readonly id: string }
  | {
      readonly kind: 'auxdata';
      readonly form: string;
      readonly hash: string;
      readonly onChainHash: string;
    };

/** Codes that no compiler made, which have every kind of slot in any order: recompiled, on chain, and what may vary. */
export interface MadeUpCode {
  readonly recompiled: RecompiledCode;
  readonly onChain: Buffer;
  /** For each byte, what it belongs to. */
  readonly segments: readonly Segment[];
  readonly starts: readonly number[];
}

const IMMUTABLE_BYTES = 32;
const hexOf = (length: number): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => Buffer.from(bytes).toString('hex'));

const segment: fc.Arbitrary<Segment> = fc.oneof(
  fc
    .uint8Array({ minLength: 1, maxLength: 12 })
    .map((bytes): Segment => ({ kind: 'code', hex: Buffer.from(bytes).toString('hex') })),
  fc
    .constantFrom('a.sol:Sums', 'a.sol:Products', 'b/c.sol:Sums')
    .map((id): Segment => ({ kind: 'library', id })),
  fc.constantFrom('7', '19', '__proto__').map((id): Segment => ({ kind: 'immutable', id })),
  fc
    .tuple(fc.constantFrom(...Object.keys(AUXDATA_FORMS)), hexOf(32), hexOf(32), fc.boolean())
    .map(([form, hash, other, isSame]): Segment => ({
      kind: 'auxdata',
      form,
      hash,
      onChainHash: isSame ? hash : other,
    })),
);

function valueFor(id: string, length: number, seed: string): string {
  const digits = Buffer.from(keccak256(Buffer.from(`${seed} ${id}`))).toString('hex');
  return digits.slice(0, 2 * length);
}

/** Puts segments together, as the compiler would give them and as a chain would hold them. */
export function assemble(
  segments: readonly Segment[],
  spelling: 'name' | 'hash',
  seed: string,
): MadeUpCode {
  const linkReferences: Record<string, Record<string, { start: number; length: number }[]>> = {};
  const immutables = new Map<string, { start: number; length: number }[]>();
  const auxdata: Record<string, { offset: number; value: `0x${string}` }> = {};
  const starts: number[] = [];
  let [code, onChain] = ['', ''];
  for (const each of segments) {
    const start = onChain.length / 2;
    starts.push(start);
    switch (each.kind) {
      case 'code':
        code += each.hex;
        onChain += each.hex;
        break;
      case 'library': {
        const [path = '', name = ''] = each.id.split(':');
        ((linkReferences[path] ??= {})[name] ??= []).push({ start, length: 20 });
        code += placeholderOf(each.id, spelling);
        onChain += valueFor(each.id, 20, seed);
        break;
      }
      case 'immutable': {
        immutables.set(each.id, [
          ...(immutables.get(each.id) ?? []),
          { start, length: IMMUTABLE_BYTES },
        ]);
        code += '00'.repeat(IMMUTABLE_BYTES);
        onChain += valueFor(each.id, IMMUTABLE_BYTES, seed);
        break;
      }
      case 'auxdata': {
        const form = AUXDATA_FORMS[each.form];
        const value = form?.(each.hash) ?? '';
        auxdata[String(Object.keys(auxdata).length + 1)] = { offset: start, value: `0x${value}` };
        code += value;
        onChain += form?.(each.onChainHash) ?? '';
        break;
      }
    }
  }
  return {
    recompiled: {
      code,
      linkReferences,
      immutableReferences: Object.fromEntries(immutables),
      immutableTypes: Object.fromEntries(
        [...immutables.keys()].map((id) => [id, { kind: 'unsigned', bits: 256 } as const]),
      ),
      auxdata,
    },
    onChain: Buffer.from(onChain, 'hex'),
    segments,
    starts,
  };
}

/** Any made-up code with at least one byte. */
export const madeUpCode: fc.Arbitrary<MadeUpCode> = fc
  .tuple(
    fc.array(segment, { minLength: 1, maxLength: 12 }),
    fc.constantFrom('name' as const, 'hash' as const),
    fc.string(),
  )
  .map(([segments, spelling, seed]) => assemble(segments, spelling, seed));
