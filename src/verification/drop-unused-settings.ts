import { posix } from 'node:path';
import { type ContractJudgement } from '../bytecode/judge-contract.ts';
import { groupByPath, splitLibraryId } from '../bytecode/library-id.ts';
import { type StandardJsonInput } from '../compilers/standard-json.ts';
import { type CompilationTask } from './compilation-task.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { entriesOf, isLinkedByName, readConfiguredLibraries } from './configured-libraries.ts';
import { linkedBySettings } from './linked-libraries.ts';

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
  task: CompilationTask,
  input: StandardJsonInput,
  compiled: CompiledTarget,
  match: ContractJudgement['match'],
): { readonly libraries: object } | undefined {
  const linked = linkedBySettings(task, input, compiled);
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

/** The most text that is searched for the imports of remappings, in characters: each source once for each of them. */
const SEARCHED_CHARACTERS = 50_000_000;
/** The most text of paths that relative imports are led to, in characters, and how often one is compared. */
const LED_CHARACTERS = 5_000_000;
const COMPARISONS = 5_000_000;

/** A source, and the paths that its relative imports lead to. */
interface ImportingSource {
  readonly path: string;
  readonly content: string;
  readonly led: readonly string[];
}

/**
 * The remappings that fit an import. Where there is too much text to tell, none: they stay all the same where the
 * sources do not compile to the same codes without them.
 */
function usedRemappings(
  remappings: readonly unknown[],
  sources: readonly (readonly [string, string])[],
): readonly unknown[] {
  const characters = sources.reduce((sum, [, content]) => sum + content.length, 0);
  if (2 * characters * remappings.length > SEARCHED_CHARACTERS) return [];
  const importing = leadImports(sources);
  const compared = importing?.reduce((sum, { led }) => sum + led.length, 0) ?? Infinity;
  if (importing === undefined || compared * remappings.length > COMPARISONS) return [];
  return remappings.filter((remapping) => isUsed(remapping, importing));
}

/** An import, or another string, that begins as relative paths do. */
const RELATIVE_PATH = /["'](\.\.?\/[^"'\n]*)/g;

/** The sources with the paths that their relative imports lead to; undefined where those have too much text. */
function leadImports(
  sources: readonly (readonly [string, string])[],
): readonly ImportingSource[] | undefined {
  let characters = 0;
  const importing: ImportingSource[] = [];
  for (const [path, content] of sources) {
    const imports = new Set<string>();
    for (const [, imported = ''] of content.matchAll(RELATIVE_PATH)) imports.add(imported);
    const folder = posix.dirname(path);
    const led: string[] = [];
    for (const imported of imports) {
      characters += folder.length + imported.length;
      if (characters > LED_CHARACTERS) return undefined;
      led.push(posix.join(folder, imported));
    }
    importing.push({ path, content, led });
  }
  return importing;
}

/**
 * Whether a remapping may have changed an import: nothing else depends on it. It leads to one of the sources, since no
 * other is read, and fits what a source in its context imports, as it is written or relative to the source.
 */
function isUsed(remapping: unknown, sources: readonly ImportingSource[]): boolean {
  const [head = '', ...behind] = String(remapping).split('=');
  const target = behind.join('=');
  const colon = head.indexOf(':');
  const [context, prefix] = [head.slice(0, Math.max(0, colon)), head.slice(colon + 1)];
  const fits = ({ content, led }: ImportingSource): boolean =>
    content.includes(`"${prefix}`) ||
    content.includes(`'${prefix}`) ||
    led.some((path) => path.startsWith(prefix));
  return (
    sources.some(({ path }) => path.startsWith(target)) &&
    sources.some((source) => source.path.startsWith(context) && fits(source))
  );
}

/**
 * The input without the settings that neither the code nor a metadata hash proves: addresses of libraries that the
 * code does not link, paths that an old compiler does not read, remappings that fit no import. Whoever sends them could
 * write any text into the record by them.
 * @returns undefined where nothing is to be dropped. Else the codes have to be the same without it, but for the hash.
 */
export function dropUnusedSettings(
  task: CompilationTask,
  input: StandardJsonInput,
  compiled: CompiledTarget,
  { match }: ContractJudgement,
): StandardJsonInput | undefined {
  const { libraries: configured, remappings, ...settings } = input.settings;
  const proven = provenLibraries(task, input, compiled, match);
  const named: readonly unknown[] = Array.isArray(remappings) ? remappings : [];
  const sources = Object.entries(input.sources).map(
    ([path, { content = '' }]) => [path, content] as const,
  );
  const used = match === 'full' ? named : usedRemappings(named, sources);
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
