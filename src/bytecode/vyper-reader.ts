import { hexToBytes } from '../lib/hex.ts';
import { toPositions } from './auxdata-positions.ts';
import { type AuxdataReader, type CompiledContract } from './compiled-contract.ts';
import { type AuxdataPositions } from './recompiled-code.ts';
import { readTrailingVyperAuxdata } from './vyper-auxdata.ts';

/**
 * The auxdata that a compiler of this release put at the end of a code. A program of an older one may end with bytes that
 * look like an auxdata of a newer one: then its author wrote them, and they are code.
 */
function findOwn(code: Buffer, release: string): ReturnType<typeof readTrailingVyperAuxdata> {
  const found = readTrailingVyperAuxdata(code);
  return found?.vyper === release ? found : undefined;
}

function positionsOf(
  code: Buffer,
  found: ReturnType<typeof readTrailingVyperAuxdata>,
): AuxdataPositions {
  return found === undefined
    ? {}
    : toPositions(code, [{ start: found.offset, length: found.length }]);
}

/**
 * Vyper. Up to 0.3.3 it appends nothing; up to 0.3.9 its version, which ends the runtime code and the creation code that
 * holds it; since 0.3.10 a description of the creation code, at the end of that alone. Only the integrity hash since
 * 0.4.1 depends on the text of the sources, so that only creation code can show that the sources are the very same.
 */
export const vyperAuxdataReader: AuxdataReader = {
  changeMetadata: (input) => input,

  read({ evm, version = '' }: CompiledContract) {
    const release = /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? '';
    const runtime = hexToBytes(evm.deployedBytecode.object);
    const creation = hexToBytes(evm.bytecode.object);
    const own = findOwn(creation, release);
    const layout = own?.layout;
    // The description has to be that of this contract.
    if (layout !== undefined && layout.runtimeBytes !== runtime.length)
      return { state: 'unlocated' };
    return {
      state: 'located',
      // Since 0.3.10 the runtime code has none: what looks like one would be a part of the program.
      runtime: layout === undefined ? positionsOf(runtime, findOwn(runtime, release)) : {},
      creation: positionsOf(creation, own),
      ...(layout && layout.immutableBytes > 0 && { appendedImmutableBytes: layout.immutableBytes }),
    };
  },
};
