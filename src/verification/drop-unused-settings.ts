import { type ContractJudgement } from '../bytecode/judge-contract.ts';
import { groupByPath, splitLibraryId } from '../solidity/library-id.ts';
import { type StandardJsonInput } from '../solidity/standard-json.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { entriesOf, isLinkedByName, readConfiguredLibraries } from './configured-libraries.ts';
import { type JobReader } from './job-reader.ts';
import { linkedBySettings } from './linked-libraries.ts';
import { type Attempt } from './needed-sources.ts';

/** The libraries that the metadata names: with their paths from 0.7.5 on, before by the name alone. */
function librariesOfMetadata({
  contract: { metadata = '' },
}: CompiledTarget): Readonly<Record<string, string>> {
  const { settings } = JSON.parse(metadata === '' ? '{}' : metadata) as {
    readonly settings?: { readonly libraries?: Readonly<Record<string, string>> };
  };
  return settings?.libraries ?? {};
}

/**
 * The libraries of the settings without those that neither the code nor a metadata hash proves. A path that an old
 * compiler does not read is proven where it is that of a library in the code.
 * @returns undefined where all are proven
 */
function provenLibraries(
  input: StandardJsonInput,
  compiled: CompiledTarget,
  match: ContractJudgement['match'],
): { readonly libraries: object } | undefined {
  const linked = linkedBySettings(input, compiled);
  const byName = isLinkedByName(compiled.version);
  const listed = match === 'full' ? librariesOfMetadata(compiled) : {};
  const addresses = new Map(Object.entries(listed));
  const areProven = entriesOf(readConfiguredLibraries(input.settings)).every(
    ({ path, name, address }) => {
      const id = `${path}:${name}`;
      const ofMetadata = addresses.get(byName && path === '' ? name : id);
      return [linked.get(id), ofMetadata?.toLowerCase()].includes(address.toLowerCase());
    },
  );
  if (areProven) return undefined;
  if (!byName) return { libraries: groupByPath(linked) };
  if (match === 'full') return { libraries: { '': listed } };
  // Where two libraries have one name, only the whole `path:Name` keeps them apart.
  const names = new Set([...linked.keys()].map((id) => splitLibraryId(id)[1]));
  const libraries =
    names.size === linked.size ? groupByPath(linked) : { '': Object.fromEntries(linked) };
  return { libraries };
}

/**
 * The input without the settings that neither the code nor a metadata hash proves: addresses of libraries that the
 * code does not link, paths that an old compiler does not read, remappings that fit no import. Whoever sends them could
 * write any text into the record by them.
 * @returns undefined where nothing is to be dropped
 * @throws as {@link JobReader.readRemappings}
 */
export async function dropUnusedSettings(
  reader: Pick<JobReader, 'readRemappings'>,
  { input, compiled, judgement: { match } }: Attempt,
  signal: AbortSignal,
): Promise<StandardJsonInput | undefined> {
  const { libraries: configured, remappings, ...settings } = input.settings;
  const proven = provenLibraries(input, compiled, match);
  const named: readonly unknown[] = Array.isArray(remappings) ? remappings : [];
  const sources = Object.fromEntries(
    Object.entries(input.sources).map(([path, { content = '' }]) => [path, content]),
  );
  const used =
    match === 'full' || named.length === 0
      ? named
      : await reader.readRemappings({ remappings: named, sources }, signal);
  if (proven === undefined && used.length === named.length) return undefined;
  const libraries = proven === undefined ? configured : proven.libraries;
  return {
    ...input,
    settings: {
      ...settings,
      ...(libraries !== undefined && { libraries }),
      ...(remappings !== undefined && { remappings: used }),
    },
  };
}
