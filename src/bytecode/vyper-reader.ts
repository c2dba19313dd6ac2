import { hexToBytes } from '../lib/hex.ts';
import { occurrencesOf, toPositions } from './auxdata-positions.ts';
import {
  type AuxdataReader,
  type AuxdataReading,
  type CompiledContract,
} from './compiled-contract.ts';
import { readTrailingVyperAuxdata, type VyperAuxdata } from './vyper-auxdata.ts';

type Own = VyperAuxdata & { readonly offset: number };

/**
 * The auxdata that a compiler of this release put at the end of a code. A program of an older one may end with bytes that
 * look like an auxdata of a newer one: then its author wrote them, and they are code.
 */
function findOwn(code: Buffer, release: string): Own | undefined {
  const found = readTrailingVyperAuxdata(code);
  return found?.vyper === release ? found : undefined;
}

/** Up to 0.3.9: at the end of the runtime code, which the creation code holds; behind it may be the end of the constructor. */
function readVersion(runtime: Buffer, creation: Buffer, release: string): AuxdataReading {
  const own = findOwn(runtime, release);
  if (own === undefined) return { state: 'located', runtime: {}, creation: {} };
  const { offset, length } = own;
  const [within, ...others] = occurrencesOf(runtime, creation);
  const isWithin = within !== undefined && others.length === 0;
  return {
    state: 'located',
    runtime: toPositions(runtime, [{ start: offset, length }]),
    creation: isWithin ? toPositions(creation, [{ start: within + offset, length }]) : {},
  };
}

/**
 * Vyper. Up to 0.3.3 it appends nothing; up to 0.3.9 its version, which ends the runtime code; since 0.3.10 a description
 * of the creation code, at the end of that alone, and with it the length of the immutables. Only the integrity hash
 * since 0.4.1 depends on the text of the sources, so that only creation code can show that the sources are the very same.
 */
export const vyperAuxdataReader: AuxdataReader = {
  changeMetadata: (input) => input,

  read({ evm, version = '' }: CompiledContract) {
    const release = /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? '';
    const runtime = hexToBytes(evm.deployedBytecode.object);
    const creation = hexToBytes(evm.bytecode.object);
    const own = findOwn(creation, release);
    if (own?.layout === undefined) return readVersion(runtime, creation, release);
    const { offset, length, layout } = own;
    const { runtimeBytes, immutableBytes } = layout;
    // The description has to be that of this contract.
    if (runtimeBytes !== runtime.length) return { state: 'unlocated' };
    return {
      state: 'located',
      runtime: {},
      creation: toPositions(creation, [{ start: offset, length }]),
      ...(immutableBytes > 0 && { appendedImmutableBytes: immutableBytes }),
    };
  },
};
