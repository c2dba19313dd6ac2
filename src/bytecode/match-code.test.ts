import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assemble,
  madeUpCode,
  type MadeUpCode,
  type Segment,
} from '../../test/support/bytecode/made-up-code.ts';
import { matchCreationCode, matchRuntimeCode } from './match-code.ts';
import { toCodeTemplate } from './recompiled-code.ts';
import { replayTransformations } from './transformation.ts';

const ADDRESS = '0x00000000000000000000000000000000DeaDBeef';

function judge(code: MadeUpCode, onChain: Uint8Array = code.onChain) {
  return matchRuntimeCode({
    recompiled: toCodeTemplate(code.recompiled),
    onChain,
    address: ADDRESS,
  });
}

const countOf = (code: MadeUpCode, kind: Segment['kind'], id: string): number =>
  code.segments.filter((segment) => segment.kind === kind && 'id' in segment && segment.id === id)
    .length;

/** Returns the expected effect of flipping a byte on chain. */
function effectOfFlip(code: MadeUpCode, offset: number): 'refused' | 'other value' | 'partial' {
  const index = code.starts.findLastIndex((start) => start <= offset);
  const segment = code.segments[index];
  if (segment === undefined || segment.kind === 'code') return 'refused';
  if (segment.kind === 'auxdata') {
    const [hashStart, hashEnd] =
      segment.form === '0.6.0' || segment.form === 'between releases' ? [10, 42] : [9, 41];
    const within = offset - (code.starts[index] ?? 0);
    return segment.form !== 'hashless' && within >= hashStart && within < hashEnd
      ? 'partial'
      : 'refused';
  }
  return countOf(code, segment.kind, segment.id) === 1 ? 'other value' : 'refused';
}

describe('matchRuntimeCode', () => {
  test('accepts differences only in values and metadata hashes, and reports full or partial', () => {
    fc.assert(
      fc.property(madeUpCode, (code) => {
        const auxdata = code.segments.filter((segment) => segment.kind === 'auxdata');
        const isFull =
          auxdata.length > 0 &&
          auxdata.every(
            ({ form, hash, onChainHash }) => form !== 'hashless' && hash === onChainHash,
          );
        expect(judge(code).match).toBe(isFull ? 'full' : 'partial');
      }),
    );
  });

  test('records transformations by offset that reproduce the on-chain bytecode', () => {
    fc.assert(
      fc.property(madeUpCode, (code) => {
        const verdict = judge(code);
        if (verdict.match === null) throw new Error('no match');
        const { bytes } = toCodeTemplate(code.recompiled);
        const { transformations, values } = JSON.parse(JSON.stringify(verdict)) as typeof verdict;
        expect(replayTransformations(bytes, transformations, values)).toEqual(code.onChain);
        const offsets = transformations.map(({ offset }) => offset);
        expect(offsets).toEqual([...offsets].sort((left, right) => left - right));
      }),
    );
  });

  test('rejects every flipped byte except in a hash or a single-reference value', () => {
    fc.assert(
      fc.property(madeUpCode, fc.integer({ min: 1, max: 255 }), (code, change) => {
        for (let offset = 0; offset < code.onChain.length; offset += 1) {
          const onChain = Buffer.from(code.onChain);
          onChain[offset] = (onChain[offset] ?? 0) ^ change;
          const verdict = judge(code, onChain);
          const effect = effectOfFlip(code, offset);
          if (effect === 'refused') {
            expect(verdict).toMatchObject({ match: null, reason: 'no_match' });
          } else if (effect === 'other value') {
            expect(verdict.match).toBe(judge(code).match);
          } else {
            expect(verdict.match).not.toBeNull();
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  test('accepts only bytecode that survives its own replay', () => {
    fc.assert(
      fc.property(
        madeUpCode,
        fc.array(fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 40 })), {
          maxLength: 4,
        }),
        (code, edits) => {
          const onChain = Buffer.from(code.onChain);
          for (const [at, bytes] of edits)
            onChain.set(
              bytes.subarray(0, onChain.length - (at % onChain.length)),
              at % onChain.length,
            );
          const verdict = judge(code, onChain);
          if (verdict.match === null) {
            const { firstDifference = -1 } = verdict;
            expect(firstDifference).toBeGreaterThanOrEqual(0);
            expect(verdict.differingBytes).toBeGreaterThan(0);
          } else {
            const { bytes } = toCodeTemplate(code.recompiled);
            expect(replayTransformations(bytes, verdict.transformations, verdict.values)).toEqual(
              onChain,
            );
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('rejects bytecode of another length and reports the first difference', () => {
    fc.assert(
      fc.property(madeUpCode, fc.uint8Array({ minLength: 1, maxLength: 3 }), (code, more) => {
        const { length } = code.onChain;
        expect(judge(code, Buffer.concat([code.onChain, more]))).toMatchObject({
          match: null,
          reason: 'bytecode_length_mismatch',
          recompiledLength: length,
          onChainLength: length + more.length,
        });
        expect(judge(code, code.onChain.subarray(0, -1))).toMatchObject({
          match: null,
          reason: 'bytecode_length_mismatch',
        });
      }),
      { numRuns: 50 },
    );
    const code = assemble([{ kind: 'code', hex: '600160025050' }], 'hash', '');
    expect(judge(code, Buffer.from('60016003505000', 'hex'))).toMatchObject({
      reason: 'bytecode_length_mismatch',
      firstDifference: 3,
      differingBytes: 1,
      within: 'code',
    });
    expect(judge(code, Buffer.from('6001', 'hex'))).not.toHaveProperty('firstDifference');
  });

  test('lists the values assigned before the first difference', () => {
    const code = assemble(
      [
        { kind: 'code', hex: '60016002' },
        { kind: 'library', id: 'a.sol:Sums' },
        { kind: 'immutable', id: '7' },
      ],
      'hash',
      '',
    );
    const other = Buffer.from(code.onChain);
    other[1] = 5;
    expect(judge(code, other)).toMatchObject({
      within: 'code',
      differingBytes: 1,
      explained: [
        { reason: 'library', offset: 4, length: 20 },
        { reason: 'immutable', offset: 24, length: 32 },
      ],
    });
  });

  test('reports empty compiler output', () => {
    const nothing = assemble([], 'hash', '');
    for (const onChain of [Buffer.alloc(0), Buffer.from('6001', 'hex')]) {
      expect(judge(nothing, onChain)).toMatchObject({
        match: null,
        reason: 'compiled_bytecode_is_zero',
      });
    }
  });

  test('names the unexplained value', () => {
    const library = { kind: 'library', id: 'a.sol:Sums' } as const;
    const code = assemble([{ kind: 'code', hex: '6001' }, library, library], 'hash', '');
    const onChain = Buffer.from(code.onChain);
    onChain[41] = (onChain[41] ?? 0) ^ 1;
    expect(judge(code, onChain)).toMatchObject({
      firstDifference: 41,
      differingBytes: 1,
      within: 'library',
      id: 'a.sol:Sums',
    });
  });

  test.each([
    ['as a path and a name', { 'a.sol': { Sums: '' } }],
    ['for all paths', { '': { Sums: '' } }],
  ])('accepts the configured library address: %s', (_how, shape) => {
    const code = assemble([{ kind: 'library', id: 'a.sol:Sums' }], 'hash', '');
    const configure = (address: string) =>
      matchRuntimeCode({
        recompiled: toCodeTemplate(code.recompiled),
        onChain: code.onChain,
        address: ADDRESS,
        libraries: Object.fromEntries(Object.keys(shape).map((path) => [path, { Sums: address }])),
      });
    expect(configure(`0x${code.onChain.toString('hex').toUpperCase()}`).match).toBe('partial');
    expect(configure(ADDRESS)).toMatchObject({ match: null, within: 'library' });
  });

  test('throws for an invalid address', () => {
    const code = assemble([{ kind: 'code', hex: '60' }], 'hash', '');
    const recompiled = toCodeTemplate(code.recompiled);
    expect(() => matchRuntimeCode({ recompiled, onChain: code.onChain, address: '0x12' })).toThrow(
      TypeError,
    );
  });
});

describe('Mismatch', () => {
  const auxdata = { kind: 'auxdata', form: '0.6.0', hash: 'aa'.repeat(32) } as const;
  const code = (hex: string, onChainHash: string) =>
    assemble(
      [
        { kind: 'code', hex },
        { ...auxdata, onChainHash },
      ],
      'hash',
      '',
    );

  test('reports whether the metadata hash, and thus the sources, are the same', () => {
    const template = code('6001', auxdata.hash);
    expect(judge(template, code('6002', auxdata.hash).onChain)).toMatchObject({
      sameMetadata: true,
    });
    expect(judge(template, code('600260', auxdata.hash).onChain)).toMatchObject({
      reason: 'bytecode_length_mismatch',
      sameMetadata: true,
    });
    expect(judge(template, code('6002', 'bb'.repeat(32)).onChain)).toMatchObject({
      sameMetadata: false,
    });
  });

  test('reports the compiler version and hash in the on-chain auxdata', () => {
    expect(judge(code('6001', auxdata.hash), code('6002', 'bb'.repeat(32)).onChain)).toMatchObject({
      onChainAuxdata: { offset: 2, solc: '0.6.0', metadataHash: { kind: 'ipfs' } },
    });
    expect(judge(code('6001', auxdata.hash), Buffer.from('6001', 'hex'))).not.toHaveProperty(
      'onChainAuxdata',
    );
  });
});

describe('Call protection', () => {
  const START = `73${'00'.repeat(20)}3014`;
  const own = ADDRESS.slice(2).toLowerCase();
  const judgeStart = (compiled: string, onChain: string) =>
    judge(assemble([{ kind: 'code', hex: compiled }], 'hash', ''), Buffer.from(onChain, 'hex'));

  test("is the contract's own address, given in any case", () => {
    expect(judgeStart(`${START}60`, `73${own}301460`)).toMatchObject({
      match: 'partial',
      transformations: [{ type: 'replace', reason: 'callProtection', offset: 1 }],
      values: { callProtection: `0x${own}` },
    });
  });

  test('may not be unset: a deployed library always contains its own address', () => {
    expect(judgeStart(`${START}60`, `${START}60`)).toMatchObject({
      match: null,
      reason: 'call_protection_missing',
      within: 'callProtection',
    });
  });

  test('rejects another address or instruction', () => {
    for (const onChain of [`73${'11'.repeat(20)}301460`, `61${own}301460`, `73${own}301560`]) {
      expect(judgeStart(`${START}60`, onChain).match).toBeNull();
    }
    expect(judgeStart(`${START}60`, `73${'11'.repeat(20)}301460`)).toMatchObject({
      within: 'callProtection',
    });
  });

  test("applies only at the start of a library's bytecode", () => {
    expect(judgeStart(`73${'00'.repeat(20)}5060`, `73${own}5060`).match).toBeNull();
    expect(judgeStart(`60${START}`, `6073${own}3014`).match).toBeNull();
  });

  test('covers the whole immutable of a library address via IR', () => {
    const code = assemble([{ kind: 'immutable', id: 'library_deploy_address' }], 'hash', '');
    const judgeWord = (word: string) => judge(code, Buffer.from(word, 'hex'));
    expect(judgeWord(own.padStart(64, '0'))).toMatchObject({
      match: 'partial',
      values: { immutables: { library_deploy_address: `0x${own.padStart(64, '0')}` } },
    });
    for (const word of [
      '00'.repeat(32),
      '11'.repeat(20).padStart(64, '0'),
      `01${own.padStart(62, '0')}`,
    ]) {
      expect(judgeWord(word)).toMatchObject({ match: null, within: 'immutable' });
    }
  });
});

describe('matchCreationCode', () => {
  const UINT = [{ type: 'constructor', inputs: [{ type: 'uint256' }] }];
  const WORD = '2a'.padStart(64, '0');

  function judgeCreation(code: MadeUpCode, onChain: Buffer, abi: unknown) {
    return matchCreationCode({ recompiled: toCodeTemplate(code.recompiled), onChain, abi });
  }

  test('accepts trailing constructor arguments and replays them', () => {
    fc.assert(
      fc.property(madeUpCode, fc.boolean(), (code, hasArguments) => {
        fc.pre(code.segments.every(({ kind }) => kind !== 'immutable'));
        const onChain = hasArguments
          ? Buffer.concat([code.onChain, Buffer.from(WORD, 'hex')])
          : code.onChain;
        const verdict = judgeCreation(code, onChain, hasArguments ? UINT : []);
        if (verdict.match === null) throw new Error('no match');
        expect(verdict.values.constructorArguments).toBe(hasArguments ? `0x${WORD}` : undefined);
        const { bytes } = toCodeTemplate(code.recompiled);
        expect(replayTransformations(bytes, verdict.transformations, verdict.values)).toEqual(
          onChain,
        );
      }),
    );
  });

  const code = assemble([{ kind: 'code', hex: '60016002' }], 'hash', '');
  const after = (hex: string): Buffer => Buffer.concat([code.onChain, Buffer.from(hex, 'hex')]);

  test.each([
    ['arguments without a constructor', WORD, []],
    ['arguments of a constructor without parameters', WORD, [{ type: 'constructor', inputs: [] }]],
    ['no arguments for a parameter', '', UINT],
    ['bytes after the arguments', `${WORD}00`, UINT],
    ['a word after the arguments', WORD + WORD, UINT],
    ['half an argument', WORD.slice(2), UINT],
    ['an ABI that is none', WORD, null],
  ])('rejects %s', (_what, rest, abi) => {
    expect(judgeCreation(code, after(rest), abi)).toMatchObject({
      match: null,
      reason: 'no_match',
      firstDifference: 4,
      within: 'constructorArguments',
    });
  });

  test('rejects bytecode shorter than the recompiled bytecode', () => {
    expect(judgeCreation(code, Buffer.from('600160', 'hex'), [])).toMatchObject({
      match: null,
      reason: 'bytecode_length_mismatch',
    });
  });

  test('reports a difference in the bytecode before checking arguments', () => {
    expect(judgeCreation(code, Buffer.from(`61016002${WORD}ff`, 'hex'), UINT)).toMatchObject({
      match: null,
      firstDifference: 0,
      differingBytes: 1,
      within: 'code',
      recompiledLength: 4,
      onChainLength: 37,
    });
  });

  test('assigns no value to an immutable in creation bytecode', () => {
    const withImmutable = assemble([{ kind: 'immutable', id: '7' }], 'hash', 'x');
    const { code: hex } = withImmutable.recompiled;
    const recompiled = toCodeTemplate({ code: hex, linkReferences: {}, auxdata: {} });
    const judgeBytes = (onChain: Buffer) => matchCreationCode({ recompiled, onChain, abi: [] });
    expect(judgeBytes(Buffer.from(hex, 'hex')).match).toBe('partial');
    expect(judgeBytes(withImmutable.onChain).match).toBeNull();
  });
});
