import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_SHARED_DATA, sharedData } from '../../test/support/shared-data.ts';
import { hexToBytes, type Hex } from '../lib/hex.ts';
import { readTrailingAuxdata } from './auxdata.ts';
import { auxdataReaderOf } from './auxdata-reader.ts';
import { type CompiledContract, toRecompiledCodes } from './compiled-contract.ts';
import { judgeContract } from './judge-contract.ts';
import { replayTransformations } from './transformation.ts';

const reader = auxdataReaderOf('Solidity');
const ADDRESS: Hex = `0x${'12'.repeat(20)}`;

function recompile(contract: CompiledContract) {
  const { runtime } = toRecompiledCodes(contract, reader.read(contract));
  return runtime;
}

function judge(contract: CompiledContract, onChain: Uint8Array) {
  return judgeContract({
    ...{ address: ADDRESS, abi: [] },
    runtime: { recompiled: recompile(contract), onChain },
  });
}

const HASH = 'ab'.repeat(32);
/** The auxdata of 0.8.<minor>, with and without a hash. */
const withHash = (minor: string): string =>
  `a2646970667358221220${HASH}64736f6c63430008${minor}0033`;
const withoutHash = (minor: string): string => `a164736f6c63430008${minor}000a`;

/** A contract whose runtime bytecode is a body, INVALID and its auxdata. */
function compiled(body: string, auxdata: string): CompiledContract {
  const object = `${body}fe${auxdata}`;
  return {
    evm: {
      bytecode: { object: `600a${object}` },
      deployedBytecode: { object },
      legacyAssembly: { '.code': [], '.data': { 0: { '.auxdata': auxdata, '.code': [] } } },
    },
  };
}

const BODY = '6080604052600080fd5b6001600201600352604051601f';
const FULL = compiled(BODY, withHash('1e'));

describe('Different metadata ending', () => {
  test.each([
    ['no auxdata', BODY],
    ['auxdata without a hash', `${BODY}fe${withoutHash('1e')}`],
  ])('%s is a partial match that replays to the on-chain bytecode', (_, code) => {
    const onChain = hexToBytes(code);
    const { match, runtime } = judge(FULL, onChain);
    expect(match).toBe('partial');
    if (runtime?.match !== 'partial') throw new Error('the code has a match');
    const object = hexToBytes(FULL.evm.deployedBytecode.object);
    expect(replayTransformations(object, runtime.transformations, runtime.values)).toEqual(
      Buffer.from(onChain),
    );
  });

  test('an on-chain hash partially matches bytecode compiled without a hash', () => {
    const hashless = compiled(BODY, withoutHash('1e'));
    const onChain = hexToBytes(`${BODY}fe${withHash('1e')}`);
    expect(judge(hashless, onChain).match).toBe('partial');
  });

  test.each([
    ['the auxdata of another compiler', `${BODY}fe${withoutHash('1d')}`],
    ['an INVALID without auxdata', `${BODY}fe`],
    ['one byte less of the code', BODY.slice(0, -2)],
    ['one byte more behind the code', `${BODY}00`],
    ['two auxdatas', `${BODY}fe${withHash('1e')}${withoutHash('1e')}`],
    ['bytes that are no auxdata', `${BODY}fe${'11'.repeat(12)}`],
  ])('%s is no match', (_, code) => {
    expect(judge(FULL, hexToBytes(code)).match).toBeNull();
  });

  const CONSTANT = `${'9d3f1c5a7b2e4860'.repeat(3)}4f3e2d1c0bfa8efe`;
  test.each([
    ['whose last byte is that of a constant', `${BODY}fe${CONSTANT.slice(0, -2)}`, '1e'],
    ['whose last byte is the operand of an instruction', `${BODY}60`, '1e'],
    ['of a release that always has auxdata', BODY, '11'],
  ])('bytecode without auxdata %s is no match', (_, code, minor) => {
    const contract = compiled(code, withHash(minor));
    expect(judge(contract, hexToBytes(code)).match).toBeNull();
  });

  test('Vyper bytecode ending with INVALID does not match without it', () => {
    const auxdata = 'a165767970657283000307000b';
    const contract = { ...compiled(BODY, auxdata), version: '0.3.7' };
    const vyper = auxdataReaderOf('Vyper');
    const { runtime } = toRecompiledCodes(contract, vyper.read(contract));
    const onChain = (code: string) =>
      judgeContract({
        ...{ address: ADDRESS, abi: [] },
        runtime: { recompiled: runtime, onChain: hexToBytes(code) },
      });
    expect(onChain(`${BODY}fe${auxdata}`).match).toBe('partial');
    expect(onChain(BODY).match).toBeNull();
  });

  const without = (version: string): CompiledContract => ({
    evm: {
      ...{ bytecode: { object: `600a${BODY}` }, deployedBytecode: { object: BODY } },
      legacyAssembly: { '.code': [], '.data': { 0: { '.code': [] } } },
    },
    version,
  });
  const judgeWithout = (code: string, version = '0.8.30+commit.73712a01') => {
    const contract = without(version);
    const { runtime } = toRecompiledCodes(contract, reader.read(contract, contract));
    const onChain = hexToBytes(code);
    return judgeContract({
      ...{ address: ADDRESS, abi: [] },
      runtime: { recompiled: runtime, onChain },
    });
  };

  test.each([
    ['with a hash', withHash('1e')],
    ['without a hash', withoutHash('1e')],
  ])('auxdata %s appended to bytecode compiled without it is a partial match', (_, auxdata) => {
    const { match, runtime } = judgeWithout(`${BODY}fe${auxdata}`);
    expect(match).toBe('partial');
    if (runtime?.match !== 'partial') throw new Error('the code has a match');
    expect(runtime.transformations).toEqual([
      { type: 'insert', reason: 'cborAuxdata', offset: BODY.length / 2, id: '1' },
    ]);
    const replayed = replayTransformations(
      hexToBytes(BODY),
      runtime.transformations,
      runtime.values,
    );
    expect(replayed.toString('hex')).toBe(`${BODY}fe${auxdata}`);
  });

  test.each([
    ['of another compiler', `${BODY}fe${withHash('1d')}`],
    ['without INVALID', `${BODY}${withHash('1e')}`],
    ['behind two INVALIDs', `${BODY}fefe${withHash('1e')}`],
    ['behind data', `${BODY}fe${'00'.repeat(32)}${withHash('1e')}`],
    ['behind other code', `${BODY.slice(0, -2)}20fe${withHash('1e')}`],
    ['that is cut', `${BODY}fe${withHash('1e').slice(0, -4)}`],
  ])('auxdata %s appended to bytecode compiled without it is no match', (_, code) => {
    expect(judgeWithout(code).match).toBeNull();
  });

  test('extra auxdata is no match for a release that always writes it', () => {
    expect(judgeWithout(`${BODY}fe${withHash('11')}`, '0.8.17+commit.8df45f5f').match).toBeNull();
  });

  test('is no match if any other byte differs', () => {
    const endings = ['', `fe${withoutHash('1e')}`];
    const length = BODY.length / 2;
    fc.assert(
      fc.property(
        ...[fc.constantFrom(...endings), fc.nat(length - 1), fc.integer({ min: 1, max: 255 })],
        (ending, at, change) => {
          const onChain = Buffer.from(hexToBytes(`${BODY}${ending}`));
          onChain[at] = (onChain[at] ?? 0) ^ change;
          expect(judge(FULL, onChain).match).toBeNull();
        },
      ),
    );
  });
});

interface PublishedCase {
  readonly onchain: { readonly deployedBytecode: string };
  readonly output: { readonly deployedBytecode: string };
  readonly verification: {
    readonly runtimeTransformations: readonly object[];
    readonly runtimeValues: object;
  };
}

describe('Published cases of different endings', () => {
  const names = ['onchain_append_cbor_false', 'onchain_bytecode_hash_none'];
  const cases = names.map(
    (name) =>
      [
        name,
        sharedData(`verification-cases/${name}_compiled_standard.json`) as
          PublishedCase | undefined,
      ] as const,
  );
  const absent = cases.some(([, found]) => found === undefined);
  test.skipIf(absent).each(cases)(
    `%s has the expected transformations and values (skipped when ${NO_SHARED_DATA})`,
    (_, found) => {
      const { onchain, output, verification } = found!;
      const code = output.deployedBytecode.slice(2);
      const at = 2 * (readTrailingAuxdata(hexToBytes(code))?.offset ?? 0);
      const contract = compiled(code.slice(0, at - 2), code.slice(at));
      const { match, runtime } = judge(contract, hexToBytes(onchain.deployedBytecode));
      expect(match).toBe('partial');
      expect(runtime).toMatchObject({
        transformations: verification.runtimeTransformations,
        values: verification.runtimeValues,
      });
    },
  );
});
