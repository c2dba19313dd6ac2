import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_SHARED_DATA, readCases, sharedData } from '../../test/support/shared-data.ts';
import { bytesToHex, type Hex } from '../lib/hex.ts';
import { auxdataReaderOf } from './auxdata-reader.ts';
import { toRecompiledCodes } from './compiled-contract.ts';
import { judgeContract, type ContractJudgement } from './judge-contract.ts';
import { replayTransformations } from './transformation.ts';
import { readTrailingVyperAuxdata, readVyperAuxdata } from './vyper-auxdata.ts';

/** A compiler's output for a source, and the bytecode of a node after its deployment. */
interface Case {
  readonly title: string;
  readonly version: string;
  readonly abi: unknown;
  readonly compiled: { readonly creation: string; readonly runtime: string };
  readonly onChain: { readonly creation: Hex; readonly runtime: Hex };
}

const CASES = readCases<Case>('bytecode/vyper.json');
const HASH = 'ab'.repeat(32);
const bytesOf = (hex: string): Buffer => Buffer.from(hex.replace(/^0x/, ''), 'hex');
const isLayout = (version: string): boolean => !version.startsWith('0.3.9');
const hasIntegrity = (version: string): boolean => /^0\.4\.[1-9]/.test(version);

const readerOf = auxdataReaderOf('Vyper');

function recompile({ version, compiled }: Pick<Case, 'version' | 'compiled'>) {
  const contract = {
    version,
    evm: {
      bytecode: { object: compiled.creation },
      deployedBytecode: { object: compiled.runtime },
    },
  };
  return toRecompiledCodes(contract, readerOf.read(contract));
}

function judge(each: Omit<Case, 'title'>): ContractJudgement {
  const { runtime, creation } = recompile(each);
  return judgeContract({
    address: `0x${'12'.repeat(20)}`,
    abi: each.abi,
    runtime: { recompiled: runtime, onChain: bytesOf(each.onChain.runtime) },
    creation: { recompiled: creation, onChain: bytesOf(each.onChain.creation) },
  });
}

/** Cases in which the compiler states the length of the immutables. */
const JUDGED = CASES.filter(({ title }) => title !== 'immutables of 0.3.9');

describe('Vyper output deployed on a node', () => {
  test.each(JUDGED)(
    '$title matches, fully only with an integrity hash in the creation bytecode',
    (each) => {
      const { runtimeMatch, creationMatch, runtime, creation } = judge(each);
      expect(runtimeMatch).toBe('partial');
      expect(creationMatch).toBe(hasIntegrity(each.version) ? 'full' : 'partial');
      for (const [verdict, side] of [
        [runtime, 'runtime'] as const,
        [creation, 'creation'] as const,
      ]) {
        if (!verdict?.match) throw new Error('no match');
        const { transformations, values } = verdict;
        expect(
          replayTransformations(bytesOf(each.compiled[side]), transformations, values),
        ).toEqual(bytesOf(each.onChain[side]));
      }
    },
  );

  test.each(JUDGED.filter(({ title }) => title.startsWith('immutables')))(
    '$title are one value appended to the runtime bytecode',
    (each) => {
      const { runtime } = judge(each);
      const offset = each.compiled.runtime.length / 2;
      expect(runtime).toMatchObject({
        transformations: [{ type: 'insert', reason: 'immutable', id: '0', offset }],
        values: { immutables: { '0': `0x${each.onChain.runtime.slice(2 + 2 * offset)}` } },
      });
    },
  );

  test.each(CASES)('$title does not match with an extra or missing byte at the end', (each) => {
    const { runtime: own } = each.onChain;
    const others: readonly Hex[] = [`${own}00`, `0x${own.slice(2, -2)}`];
    for (const runtime of others) {
      const judged = judge({ ...each, onChain: { ...each.onChain, runtime } });
      expect(judged.match).toBeNull();
      expect(judged.runtime).toMatchObject({ reason: 'bytecode_length_mismatch' });
    }
  });

  test.each(JUDGED)('$title does not match with any other byte in its runtime bytecode', (each) => {
    const length = each.compiled.runtime.length / 2;
    fc.assert(
      fc.property(fc.nat(length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const runtime = bytesOf(each.onChain.runtime);
        runtime[at] = (runtime[at] ?? 0) ^ change;
        const onChain = { ...each.onChain, runtime: bytesToHex(runtime) };
        expect(judge({ ...each, onChain }).match).toBeNull();
      }),
      { numRuns: 30 },
    );
  });

  test.each(JUDGED.filter(({ version }) => hasIntegrity(version)))(
    'another integrity hash in the creation bytecode of $title is a partial match',
    (each) => {
      const own = recompile(each).creation.auxdata['1']?.value.slice(8, 72) ?? '';
      const creation = each.onChain.creation.replace(own, HASH) as Hex;
      const judged = judge({ ...each, onChain: { ...each.onChain, creation } });
      expect(judged.creationMatch).toBe('partial');
      expect(judged.creation).toMatchObject({
        transformations: expect.arrayContaining([
          expect.objectContaining({ type: 'replace', reason: 'cborAuxdata', id: '1' }),
        ]) as unknown,
      });
    },
  );

  test.each(CASES)('$title has its auxdata where its version writes it', (each) => {
    const { runtime, creation } = recompile(each);
    expect(Object.keys(runtime.auxdata)).toEqual(isLayout(each.version) ? [] : ['1']);
    expect(Object.keys(creation.auxdata)).toEqual(['1']);
  });

  test.each(CASES)('$title has no auxdata when read as another version', (each) => {
    const { runtime, creation } = recompile({ ...each, version: '0.3.3+commit.48e326f0' });
    expect([runtime.auxdata, creation.auxdata]).toEqual([{}, {}]);
  });
});

/** A case of the shared data: the compiler's output and the expected verdict. */
interface SharedCase {
  readonly input: { readonly compilerVersion: string };
  readonly output: {
    readonly creationBytecode: Hex;
    readonly deployedBytecode: Hex;
    readonly compilationArtifacts: { readonly abi: unknown };
    readonly creationCodeArtifacts: { readonly cborAuxdata: unknown };
    readonly runtimeCodeArtifacts: { readonly cborAuxdata: unknown };
  };
  readonly onchain: { readonly creationBytecode: Hex; readonly deployedBytecode: Hex };
  readonly verification: Readonly<Record<'creation' | 'runtime', never>> & {
    readonly [name: string]: unknown;
  };
}

const NAMES = ['auxdata-0.3.4', 'auxdata-0.4.0', 'auxdata-0.4.1', 'constructor_args_immutables'];
const WORDS = { full: 'exact_match', partial: 'match' } as const;

describe.each(NAMES)('Shared case %s', (name) => {
  const shared = sharedData(`verification-cases/vyper/${name}.json`) as SharedCase | undefined;
  test.skipIf(shared === undefined)(
    `has the expected verdict (skipped where ${NO_SHARED_DATA})`,
    () => {
      if (shared === undefined) return;
      const { input, output, onchain, verification } = shared;
      const each = {
        version: input.compilerVersion,
        abi: output.compilationArtifacts.abi,
        compiled: {
          creation: output.creationBytecode.slice(2),
          runtime: output.deployedBytecode.slice(2),
        },
        onChain: { creation: onchain.creationBytecode, runtime: onchain.deployedBytecode },
      };
      const codes = recompile(each);
      expect(codes.creation.auxdata).toEqual(output.creationCodeArtifacts.cborAuxdata);
      expect(codes.runtime.auxdata).toEqual(output.runtimeCodeArtifacts.cborAuxdata);
      const judged = judge(each);
      for (const side of ['creation', 'runtime'] as const) {
        const verdict = judged[side];
        if (!verdict?.match) throw new Error(`no ${side} match`);
        expect(WORDS[verdict.match]).toBe(verification[`${side}Match`]);
        expect(verdict.transformations).toEqual(verification[`${side}Transformations`]);
        expect(verdict.values).toEqual(verification[`${side}Values`]);
      }
    },
  );
});

describe('Vyper auxdata', () => {
  const MAP = 'a165767970657283';
  const LAYOUT = `84182e801840${MAP}00030a0013`;
  const INTEGRITY = `855820${HASH}182e801840${MAP}0004010035`;

  test.each([
    [`${MAP}000304`, { vyper: '0.3.4', length: 11 }],
    [`${MAP}000309000b`, { vyper: '0.3.9', length: 13 }],
    [LAYOUT, { vyper: '0.3.10', length: 19, layout: { runtimeBytes: 46, immutableBytes: 64 } }],
    [INTEGRITY, { vyper: '0.4.1', length: 53, integrityOffset: 3 }],
  ])('parses %s', (hex, expected) => {
    expect(readVyperAuxdata(bytesOf(hex))).toMatchObject(expected);
    expect(readTrailingVyperAuxdata(bytesOf(`6001${hex}`))).toMatchObject({ offset: 2 });
  });

  test.each([
    ['a map of a version that writes an array', `${MAP}00030a000b`],
    ['an array of a version that writes a map', LAYOUT.replace('00030a', '000309')],
    ['an array with a hash of a version that writes none', INTEGRITY.replace('000401', '000400')],
    ['an array without the hash that its version writes', LAYOUT.replace('00030a', '000401')],
    ['another length', LAYOUT.replace(/0013$/, '0014')],
    ['a length that leaves the code', 'ffff'],
    ['nothing', ''],
    ['nested arrays', `${'81'.repeat(500)}0001f6`],
  ])('rejects %s', (_what, hex) => {
    expect(readTrailingVyperAuxdata(bytesOf(hex))).toBeUndefined();
  });

  test('never throws for any bytes, and any result ends the bytecode', () => {
    const parts = [MAP, LAYOUT, INTEGRITY, '000b', '0013', '84', '5820'].map(bytesOf);
    const piece = fc.oneof(fc.constantFrom(...parts), fc.uint8Array({ maxLength: 20 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const code = Buffer.concat(pieces);
        const found = readTrailingVyperAuxdata(code);
        if (found !== undefined) expect(found.offset + found.length).toBe(code.length);
      }),
      { numRuns: 500 },
    );
  });
});
