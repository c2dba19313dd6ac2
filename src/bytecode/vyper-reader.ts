import { hexToBytes } from '../lib/hex.ts';
import { findAllOffsets, toPositions } from './auxdata-positions.ts';
import {
  type AuxdataReader,
  type AuxdataReading,
  type CompiledContract,
} from './compiled-contract.ts';
import { readTrailingVyperAuxdata, type VyperAuxdata } from './vyper-auxdata.ts';

type Own = VyperAuxdata & { readonly offset: number };

/**
 * Reads the auxdata that a compiler of this release put at the end of a bytecode. A program of an older
 * release may end with bytes that look like an auxdata of a newer one; its author wrote these, so they are
 * code.
 */
function findOwn(code: Buffer, release: string): Own | undefined {
  const found = readTrailingVyperAuxdata(code);
  return found?.vyper === release ? found : undefined;
}

/**
 * Reads the auxdata of versions up to 0.3.9, at the end of the runtime bytecode within the creation bytecode;
 * the end of the constructor may follow.
 */
function readVersion(runtime: Buffer, creation: Buffer, release: string): AuxdataReading {
  const own = findOwn(runtime, release);
  if (own === undefined) return { state: 'located', runtime: {}, creation: {} };
  const { offset, length } = own;
  const [within, ...others] = findAllOffsets(runtime, creation);
  const isWithin = within !== undefined && others.length === 0;
  return {
    state: 'located',
    runtime: toPositions(runtime, [{ start: offset, length }]),
    creation: isWithin ? toPositions(creation, [{ start: within + offset, length }]) : {},
  };
}

/**
 * Reader for Vyper. Versions up to 0.3.3 append nothing; up to 0.3.9 the version, at the end of the runtime
 * bytecode; since 0.3.10 a description of the creation bytecode, only at the end of that, including the
 * length of the immutables. Only the integrity hash since 0.4.1 depends on the source text, so only creation
 * bytecode can prove that the sources are identical.
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
    // The description must be that of this contract.
    if (runtimeBytes !== runtime.length) return { state: 'unlocated' };
    return {
      state: 'located',
      runtime: {},
      creation: toPositions(creation, [{ start: offset, length }]),
      ...(immutableBytes > 0 && { appendedImmutableBytes: immutableBytes }),
    };
  },
};
