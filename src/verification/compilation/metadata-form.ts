import { type Auxdata, listReleaseAuxdata, readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { compareVersions, isSolarVersion } from '../../compilers/compiler-version.ts';
import { membersOf } from '../../lib/members.ts';
import { type MetadataChange, withChanges } from '../../solidity/setting-changes.ts';
import { type CompilationTask } from './compilation-task.ts';
import { isOfVersion } from './is-of-version.ts';

/**
 * How solc writes metadata into bytecode: with an IPFS hash, a Swarm hash, no hash, or not at all (Solidity
 * documentation, "Encoding of the Metadata Hash in the Bytecode").
 */
type MetadataForm = 'ipfs' | 'bzzr1' | 'none' | 'omitted';

/** The first releases with `metadata.bytecodeHash` and `metadata.appendCBOR` (their changelogs). */
const BYTECODE_HASH_SINCE = '0.6.0';
const APPEND_CBOR_SINCE = '0.8.18';

/**
 * Returns the change of `settings.metadata` with which the compiler writes metadata as a runtime bytecode has it.
 * Undefined if the settings do so already, or if the bytecode does not show it: another version compiled it, or the
 * compiler has no such setting.
 */
export function findMetadataChange(
  task: CompilationTask,
  runtime: Uint8Array,
): MetadataChange | undefined {
  if (!hasMetadataSettings(task)) return undefined;
  const trailing = readTrailingAuxdata(runtime);
  if (trailing !== undefined) return changeTo(task, formOf(task, trailing));
  // Bytes may follow the metadata of a code that no compiler wrote.
  return listReleaseAuxdata(runtime).length === 0 ? changeTo(task, 'omitted') : undefined;
}

/**
 * Lists the changes of `settings.metadata` that may give a creation code, the likeliest first; undefined is none.
 * The code of other contracts may follow it, in constructor arguments, so that the last metadata need not be its own.
 */
export function listMetadataChanges(
  task: CompilationTask,
  creation: Uint8Array,
): readonly (MetadataChange | undefined)[] {
  if (!hasMetadataSettings(task)) return [undefined];
  const auxdatas = listReleaseAuxdata(creation);
  const forms = auxdatas.map((auxdata) => formOf(task, auxdata));
  const isOfOthers = forms.length > 0 && forms.every((form) => form === undefined);
  const changes = isOfOthers
    ? []
    : [...forms, 'omitted' as const].map((form) => changeTo(task, form));
  const unique = new Map([...changes, undefined].map((each) => [JSON.stringify(each), each]));
  return [...unique.values()];
}

function hasMetadataSettings({ language, version }: CompilationTask): boolean {
  const isSolc = language === 'solidity' && !isSolarVersion(version);
  return isSolc && compareVersions(version, BYTECODE_HASH_SINCE) >= 0;
}

function changeTo(
  { version, input: { settings } }: CompilationTask,
  form: MetadataForm | undefined,
): MetadataChange | undefined {
  const { bytecodeHash, appendCBOR } = membersOf(settings['metadata']);
  if (form === undefined) return undefined;
  if (form === 'omitted') {
    if (appendCBOR === false || compareVersions(version, APPEND_CBOR_SINCE) < 0) return undefined;
    // Without metadata the compiler accepts no other hash.
    return { appendCBOR: false, ...(bytecodeHash !== undefined && { bytecodeHash: 'none' }) };
  }
  if (appendCBOR === false) return { appendCBOR: true, bytecodeHash: form };
  return form === (bytecodeHash ?? 'ipfs') ? undefined : { bytecodeHash: form };
}

/** Returns undefined for the metadata of another compiler version. */
function formOf(
  { version }: CompilationTask,
  { metadataHash, solc }: Auxdata,
): MetadataForm | undefined {
  const { kind = 'none' } = metadataHash ?? {};
  if (solc === undefined || kind === 'bzzr0') return undefined;
  return isOfVersion(version.replace(/^v/, ''), solc) ? kind : undefined;
}

/** Returns the task with a change of its metadata settings, if there is one. */
export function withMetadata<Task extends CompilationTask>(
  task: Task,
  metadata: MetadataChange | undefined,
): Task {
  if (metadata === undefined) return task;
  const settings = withChanges(task.input.settings, { metadata });
  return { ...task, input: { ...task.input, settings } };
}
