import { AbiParameters } from 'ox';
import { toCodeTemplate, type ImmutableSlots } from '../../../src/bytecode/recompiled-code.ts';
import { type CompiledSample } from './compiled-suite.ts';

/** Addresses of the samples, their libraries and their constructor values. */
const ADDRESS = '0x00000000000000000000000000000000c0ffee01';
const LIBRARY_ADDRESSES: Readonly<Record<string, string>> = {
  Sums: '0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a',
  Products: '0x70700d0c7570700d0c7570700d0c7570700d0c75',
};
const OWNER = '0x00000000000000000000000000000000000a11ce';
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  Arguments: [42n, 'forty-two letters do not fit one word of the EVM', OWNER, [1n, 2n, 3n]],
  Child: [5n],
  Immutables: [1000n, OWNER],
};

/** The bytecodes of an on-chain contract. */
export interface OnChainCodes {
  readonly address: string;
  readonly runtime: Buffer;
  readonly creation: Buffer;
}

const bytes = (hex: string): Buffer => Buffer.from(hex.replace(/^0x/, ''), 'hex');

/** Encodes the constructor arguments of a sample, with a library that is not part of this project. */
export function constructorArguments({ name, output }: CompiledSample): Buffer {
  const inputs = output.abi?.find(({ type }) => type === 'constructor')?.inputs ?? [];
  return inputs.length === 0
    ? Buffer.alloc(0)
    : bytes(AbiParameters.encode(inputs, ARGUMENTS[name] ?? []));
}

/** Links bytecode to the existing libraries. */
export function linkCode(
  { recompiled }: CompiledSample,
  which: 'runtime' | 'creation',
  addresses: Readonly<Record<string, string>> = LIBRARY_ADDRESSES,
): Buffer {
  const { bytes: template, libraries } = toCodeTemplate(recompiled[which]);
  const code = Buffer.from(template);
  for (const { id, starts } of libraries) {
    const address = bytes(addresses[id.slice(id.lastIndexOf(':') + 1)] ?? '');
    for (const start of starts) address.copy(code, start);
  }
  return code;
}

/** A value of an immutable's type with all bytes equal. */
function valueOf({ length, type }: ImmutableSlots, byte: number): Buffer {
  const word = Buffer.alloc(length, byte);
  if (type?.kind === 'unsigned') return word.fill(0, 0, length - type.bits / 8);
  return type?.kind === 'leading' ? word.fill(0, type.bytes) : word;
}

/** The on-chain bytecode after deploying the sample: linked, constructed, with values for its immutables. */
export function simulateDeployment(sample: CompiledSample): OnChainCodes {
  const runtime = linkCode(sample, 'runtime');
  const own = bytes(ADDRESS);
  for (const [index, slots] of toCodeTemplate(sample.recompiled.runtime).immutables.entries()) {
    const isOwn = slots.id === 'library_deploy_address';
    const word = isOwn ? Buffer.concat([Buffer.alloc(12), own]) : valueOf(slots, index + 1);
    for (const start of slots.starts) word.copy(runtime, start);
  }
  if (runtime.subarray(0, 23).toString('hex') === `73${'00'.repeat(20)}3014`) own.copy(runtime, 1);
  const creation = Buffer.concat([linkCode(sample, 'creation'), constructorArguments(sample)]);
  return { address: ADDRESS, runtime, creation };
}
