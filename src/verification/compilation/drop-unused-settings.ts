import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { groupByPath, splitQualifiedName } from '../../solidity/library-id.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { isMembers, type Members } from '../../lib/members.ts';
import { toInputSettings } from '../../solidity/metadata.ts';
import { withChangedSetting, STEPS, withoutWhitespace } from './change-settings.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { libraryEntries, isLinkedByName, readConfiguredLibraries } from './configured-libraries.ts';
import { type JobReader } from './job-reader.ts';
import { languageOf } from './languages/all-languages.ts';
import { linkedBySettings } from './linked-libraries.ts';
import { matchesAsWell, type Attempt, type NeededSources, type Trial } from './needed-sources.ts';
import { VerificationFailure } from '../verification-failure.ts';

/** The settings in the metadata that the compiler wrote. */
interface MetadataSettings {
  /** Keyed by `path:Name` from 0.7.5 on, by name alone before. */
  readonly libraries?: Readonly<Record<string, string>>;
  readonly optimizer?: unknown;
}

/** The parts of a compilation that describe its settings. */
type DescribedSettings = Pick<CompiledTarget, 'version'> & {
  readonly contract: Pick<CompiledTarget['contract'], 'metadata'>;
};

function settingsOfMetadata({
  contract: { metadata = '' },
  version,
}: DescribedSettings): MetadataSettings {
  const { settings = {} } = JSON.parse(metadata === '' ? '{}' : metadata) as {
    readonly settings?: Members;
  };
  return toInputSettings(settings, version);
}

/**
 * Returns the settings of a full match with the optimizer settings from the metadata. If there are details,
 * the metadata does not say whether the optimizer is enabled, so no hash proves that.
 */
function withProvenOptimizer(settings: Settings, compiled: DescribedSettings): Settings {
  const { optimizer } = settings;
  if (!isMembers(optimizer) || !Object.hasOwn(optimizer, 'details')) return settings;
  const { optimizer: proven } = settingsOfMetadata(compiled);
  if (proven === undefined || canonicalJson(proven) === canonicalJson(optimizer)) return settings;
  return { ...settings, optimizer: proven };
}

/**
 * Returns the libraries of the settings that the bytecode or a metadata hash proves. For an old compiler,
 * which does not read paths, a path is proven if a library in the bytecode has it.
 * @returns undefined if all are proven
 */
function provenLibraries(
  input: StandardJsonInput,
  compiled: CompiledTarget,
  match: ContractJudgement['match'],
): { readonly libraries: object } | undefined {
  const linked = linkedBySettings(input, compiled);
  const byName = isLinkedByName(compiled.version);
  const { libraries: listed = {} } = match === 'full' ? settingsOfMetadata(compiled) : {};
  const addresses = new Map(Object.entries(listed));
  const areProven = libraryEntries(readConfiguredLibraries(input.settings)).every(
    ({ path, name, address }) => {
      const id = `${path}:${name}`;
      const ofMetadata = addresses.get(byName && path === '' ? name : id);
      return [linked.get(id), ofMetadata?.toLowerCase()].includes(address.toLowerCase());
    },
  );
  if (areProven) return undefined;
  if (!byName) return { libraries: groupByPath(linked) };
  if (match === 'full') return { libraries: { '': listed } };
  // If two libraries share a name, only the full `path:Name` tells them apart.
  const names = new Set([...linked.keys()].map((id) => splitQualifiedName(id)[1]));
  const libraries =
    names.size === linked.size ? groupByPath(linked) : { '': Object.fromEntries(linked) };
  return { libraries };
}

type Settings = StandardJsonInput['settings'];

/**
 * Time limit for trials without settings that a partial match may not need. The match remains valid whatever
 * the trials show.
 */
const SPARING_MS = 30_000;

/**
 * Returns the input without the settings that neither the bytecode nor a metadata hash proves: addresses of
 * libraries that are not linked, paths that an old compiler does not read, remappings that apply to no import
 * or occur twice, whitespace between optimizer steps, and `enabled` of an optimizer with details. A submitter
 * could use them to write any text into the record.
 * @returns undefined if there is nothing to remove
 * @throws as {@link JobReader.ask}
 */
async function dropUnusedSettings(
  reader: Pick<JobReader, 'ask'>,
  { input, compiled, judgement: { match } }: Attempt,
  signal: AbortSignal,
): Promise<StandardJsonInput | undefined> {
  const compact =
    match === 'full'
      ? withProvenOptimizer(input.settings, compiled)
      : withChangedSetting(input.settings, STEPS, withoutWhitespace);
  const { libraries: configured, remappings, ...settings } = compact;
  const proven = provenLibraries(input, compiled, match);
  const named: readonly unknown[] = Array.isArray(remappings) ? remappings : [];
  const sources = Object.fromEntries(
    Object.entries(input.sources).map(([path, { content = '' }]) => [path, content]),
  );
  const used =
    match === 'full' || named.length === 0
      ? named
      : await reader.ask(
          { read: 'remappings', remapped: { remappings: [...new Set(named)], sources } },
          signal,
        );
  const isSame = compact === input.settings && used.length === named.length;
  if (proven === undefined && isSame) return undefined;
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

/**
 * Returns whether {@link removeUnprovenSettings} would leave the settings of a match unchanged, without
 * compiling. Returns false if the settings name libraries, or if a partial match has settings that may have
 * no effect.
 */
export function areAllSettingsProven(
  input: Pick<StandardJsonInput, 'language' | 'settings'>,
  match: 'full' | 'partial',
  described: DescribedSettings,
): boolean {
  const { settings } = input;
  const { compiler, spare } = languageOf(input.language);
  if (libraryEntries(readConfiguredLibraries(settings)).length > 0) return false;
  const isProven = match === 'full' && compiler === 'solc';
  if (isProven) return withProvenOptimizer(settings, described) === settings;
  const { remappings } = settings;
  if (Array.isArray(remappings) && remappings.length > 0) return false;
  if (withChangedSetting(settings, STEPS, withoutWhitespace) !== settings) return false;
  const whole = { ...input, sources: {} };
  return spare.every((each) => each(whole) === whole);
}

/**
 * Repeats the attempt without the settings that nothing proves. Unproven settings are never published: if the
 * contract does not match without them, verification fails. Settings that may matter are removed if the
 * contract matches without them.
 * @throws VerificationFailure settings_not_proven; otherwise as compiling does
 */
export async function removeUnprovenSettings(
  reader: Pick<JobReader, 'ask'>,
  found: NeededSources,
  trial: Pick<Trial, 'compile' | 'judge'>,
  signal: AbortSignal,
): Promise<Attempt & Pick<NeededSources, 'compileTimeMs'>> {
  let { compileTimeMs } = found;
  let best: Attempt = found;
  const { compiler, spare } = languageOf(found.input.language);
  const attempt = async (input: StandardJsonInput, within: AbortSignal): Promise<Attempt> => {
    const compiled = await trial.compile(input, within).catch(requireCompiled);
    compileTimeMs += compiled.compileTimeMs;
    const judgement = trial.judge(input, compiled);
    if (!matchesAsWell(judgement, best.judgement)) throw settingsNotProven({});
    return { input, compiled, judgement };
  };
  const input = await dropUnusedSettings(reader, found, signal);
  if (input !== undefined) {
    best = await attempt(input, signal).catch((error: unknown) => {
      const { optimizer } = found.input.settings;
      // If the bytecode only results with the submitted `enabled`, that proves it.
      if (!isNotProven(error) || optimizer === input.settings['optimizer']) throw error;
      return attempt({ ...input, settings: { ...input.settings, optimizer } }, signal);
    });
  }
  // A Vyper hash covers the sources but no settings.
  if (best.judgement.match === 'partial' || compiler !== 'solc') {
    await within(SPARING_MS, signal, async (ending) => {
      for (const each of spare) {
        const fewer = each(best.input);
        if (fewer === best.input) continue;
        best = await attempt(fewer, ending).catch(() => best);
        ending.throwIfAborted();
      }
    });
  }
  return { ...best, compileTimeMs };
}

/**
 * Runs optional work: unless the caller's signal ends it, errors and timeouts are ignored.
 * @param work must honor its signal, which fires after `limitMs` or with the caller's signal
 */
async function within(
  limitMs: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  caller.throwIfAborted();
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, limitMs);
  caller.addEventListener('abort', end, { once: true });
  try {
    await work(ending.signal);
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    caller.removeEventListener('abort', end);
  }
  caller.throwIfAborted();
}

function requireCompiled(error: unknown): never {
  const isRefused = error instanceof VerificationFailure && error.code === 'compiler_error';
  throw isRefused ? settingsNotProven(error.data) : error;
}

const isNotProven = (error: unknown): boolean =>
  error instanceof VerificationFailure && error.code === 'settings_not_proven';

function settingsNotProven(data: Record<string, unknown>): VerificationFailure {
  return new VerificationFailure(
    'settings_not_proven',
    'The code matches only with libraries, remappings or optimizer details that are not proven by the code or a metadata hash. Remove those that the contract does not need.',
    { data },
  );
}
