import { readAuxdataAt, readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { compareVersions, isSolarVersion } from '../../compilers/compiler-version.ts';
import { isMembers } from '../../lib/members.ts';
import { type MetadataChange, withChanges } from '../../solidity/setting-changes.ts';
import { type CompilationTask } from './compilation-task.ts';

/** The first releases with `metadata.bytecodeHash` and `metadata.appendCBOR` (their changelogs). */
const BYTECODE_HASH_SINCE = '0.6.0';
const APPEND_CBOR_SINCE = '0.8.18';

/** A bytecode whose metadata tells how it was compiled. */
export interface ReadCode {
  readonly bytes: Uint8Array;
  /** Whether it is creation code, in which constructor arguments may follow the metadata. */
  readonly isCreation: boolean;
}

/**
 * Returns the change of `settings.metadata` with which solc writes metadata into its output as a bytecode has it:
 * with an IPFS hash, a Swarm hash, no hash, or not at all (Solidity documentation, "Encoding of the Metadata Hash in
 * the Bytecode"). Undefined if the settings do so already, or the compiler has no such setting.
 */
export function findMetadataChange(
  { language, version, input: { settings } }: CompilationTask,
  code: ReadCode,
): MetadataChange | undefined {
  if (language !== 'solidity' || isSolarVersion(version)) return undefined;
  if (compareVersions(version, BYTECODE_HASH_SINCE) < 0) return undefined;
  const { bytecodeHash, appendCBOR } = isMembers(settings['metadata']) ? settings['metadata'] : {};
  const theirs = formOf(code);
  if (theirs === 'unknown') return undefined;
  if (theirs === undefined) {
    if (appendCBOR === false || compareVersions(version, APPEND_CBOR_SINCE) < 0) return undefined;
    // Without metadata the compiler accepts no other hash.
    return { appendCBOR: false, ...(bytecodeHash !== undefined && { bytecodeHash: 'none' }) };
  }
  if (appendCBOR === false) return { appendCBOR: true, bytecodeHash: theirs };
  return theirs === (bytecodeHash ?? 'ipfs') ? undefined : { bytecodeHash: theirs };
}

/** Returns the `bytecodeHash` of a bytecode, undefined if it has no metadata. */
function formOf({
  bytes,
  isCreation,
}: ReadCode): 'ipfs' | 'bzzr1' | 'none' | 'unknown' | undefined {
  const auxdata = isCreation ? findLastAuxdata(bytes) : readTrailingAuxdata(bytes);
  if (auxdata === undefined) return undefined;
  const { kind = 'none' } = auxdata.metadataHash ?? {};
  return auxdata.solc === undefined || kind === 'bzzr0' ? 'unknown' : kind;
}

function findLastAuxdata(code: Uint8Array): ReturnType<typeof readAuxdataAt> {
  for (let offset = code.length - 1; offset >= 0; offset -= 1) {
    const auxdata = readAuxdataAt(code, offset);
    if (auxdata !== undefined) return auxdata;
  }
  return undefined;
}

/** Returns the task with a change of its metadata settings. */
export function withMetadata(task: CompilationTask, metadata: MetadataChange): CompilationTask {
  const settings = withChanges(task.input.settings, { metadata });
  return {
    ...task,
    input: { ...task.input, settings },
    ...(task.withAllSources && { withAllSources: { ...task.withAllSources, settings } }),
  };
}
