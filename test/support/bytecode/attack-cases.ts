import { readFileSync } from 'node:fs';
import { type ConfiguredLibraries } from '../../../src/bytecode/explained-value.ts';
import { toCodeTemplate } from '../../../src/bytecode/recompiled-code.ts';
import { type SolcVersion } from '../compile-in-child.ts';
import { compileSuite, type CompiledSample } from './compiled-suite.ts';
import { compilePlanted } from './planted-samples.ts';
import { linkCode, simulateDeployment, type OnChainCodes } from './simulated-deployment.ts';

/** A change to honest on-chain bytecode, at a place that the recompiled bytecode names. */
interface Edit {
  /**
   * `hash` is the metadata hash of an auxdata; `planted` a constant equal to auxdata `1`; `arguments`
   * everything after the code.
   */
  readonly at:
    'start' | 'end' | 'library' | 'immutable' | 'auxdata' | 'hash' | 'planted' | 'arguments';
  /** A library's name, an auxdata's id, or an immutable's index. */
  readonly id?: string;
  /** Which reference of it, from 0. */
  readonly reference?: number;
  /** Byte offset from there; negative at the end of the bytecode. */
  readonly skip?: number;
  /** Overwrites in place; at `end` and for `arguments` it appends. */
  readonly bytes?: string;
  /** Number of bytes cut from the end. */
  readonly cut?: number;
}

/** On-chain bytecode made to pass for a contract that it is not, or that is unusual yet honest. */
export interface AttackCase {
  readonly name: string;
  /** The false impression that the change would give readers, or why it is honest. */
  readonly why: string;
  readonly version: SolcVersion;
  readonly variant: string;
  readonly contract: string;
  readonly code: 'runtime' | 'creation';
  readonly edits: readonly Edit[];
  /** Whether the creation is unknown: a creation match proves every value that its constructor wrote. */
  readonly withoutCreation?: true;
  readonly libraries?: ConfiguredLibraries;
  readonly expected: Readonly<Record<string, unknown>> & {
    readonly match: 'full' | 'partial' | null;
  };
  /** The peer library's verdict, if different. */
  readonly peer?: string;
}

/** The cases of test/cases/bytecode/attacks.json. */
export function attackCases(): readonly AttackCase[] {
  const file = new URL('../../cases/bytecode/attacks.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as AttackCase[];
}

/** The compiled contract of a case. */
export async function sampleOf({
  version,
  variant,
  contract,
}: AttackCase): Promise<CompiledSample> {
  const samples =
    variant === 'planted' ? [await compilePlanted(version)] : await compileSuite(version);
  const sample = samples.find((each) => each.variant === variant && each.name === contract);
  if (sample === undefined) throw new Error(`no sample ${version} ${variant} ${contract}`);
  return sample;
}

function placeOf(
  sample: CompiledSample,
  which: AttackCase['code'],
  edit: Edit,
  code: Buffer,
): number {
  const template = toCodeTemplate(sample.recompiled[which]);
  const { id = '', reference = 0, skip = 0 } = edit;
  const auxdata = template.auxdata.find((slot) => slot.id === id);
  const starts: Record<Edit['at'], number | undefined> = {
    start: 0,
    end: code.length,
    arguments: code.length,
    library: template.libraries.find((slots) => slots.id.endsWith(`:${id}`))?.starts[reference],
    immutable: template.immutables[Number(id)]?.starts[reference],
    auxdata: auxdata?.offset,
    hash: auxdata?.hashOffset,
    planted: secondOccurrence(sample, template.bytes),
  };
  const start = starts[edit.at];
  if (start === undefined) throw new Error(`no ${edit.at} ${id} in ${sample.id}`);
  return start + skip;
}

function secondOccurrence({ recompiled }: CompiledSample, bytes: Buffer): number | undefined {
  const [auxdata] = Object.values(recompiled.runtime.auxdata);
  if (auxdata === undefined) return undefined;
  const at = bytes.indexOf(Buffer.from(auxdata.value.slice(2), 'hex'), auxdata.offset + 1);
  return at === -1 ? undefined : at;
}

/** The on-chain bytecodes of a case: an honest deployment with the edits applied to one of them. */
export function forge(attack: AttackCase, sample: CompiledSample): OnChainCodes {
  const honest = simulateDeployment(sample);
  let code = honest[attack.code];
  for (const edit of attack.edits) {
    if (edit.cut !== undefined) code = code.subarray(0, -edit.cut);
    if (edit.at === 'arguments') code = linkCode(sample, 'creation');
    const place = placeOf(sample, attack.code, edit, code);
    const bytes = Buffer.from(edit.bytes ?? '', 'hex');
    code = Buffer.concat([code.subarray(0, place), bytes, code.subarray(place + bytes.length)]);
  }
  return { ...honest, [attack.code]: code };
}
