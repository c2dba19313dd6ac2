import {
  compareVersions,
  isSolarVersion,
  STANDARD_JSON_SINCE,
} from '../../compilers/compiler-version.ts';
import { isAddress } from '../../lib/address-text.ts';
import { isMembers, type Members } from '../../lib/members.ts';
import { printableText } from '../../lib/printable-text.ts';
import { VerificationFailure } from '../verification-failure.ts';

/** A setting: the first compiler version that reads it, and its valid values. */
interface Setting {
  readonly since?: string;
  /** Whether only solc reads it; Solar compiles as if it were absent. */
  readonly isIgnored?: true;
  readonly fits?: (value: unknown) => boolean;
  readonly members?: Readonly<Record<string, Setting>>;
}

const NAME_SHOWN_CHARACTERS = 120;
/** From this version on, the compiler rejects unknown settings and malformed values. */
const STRICT_SINCE = '0.6.0';

/** Default `runs` of the optimizer. */
export const DEFAULT_RUNS = 200;

const isText = (value: unknown): value is string => typeof value === 'string';
const flag: Setting = { fits: (value) => typeof value === 'boolean' };
const count: Setting = { fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0 };
const oneOf = (...words: readonly string[]): Setting => ({
  fits: (value) => isText(value) && words.includes(value),
});

/** `context:prefix=target` (Solidity documentation, "Import Remapping"). */
const isRemapping = (value: unknown): boolean => isText(value) && /^(?:[^:=]*:)?[^=]+=/.test(value);

/** Path -> library -> address. Versions up to 0.4.18 accept null for a path without libraries. */
const isLibraries = (value: unknown): boolean =>
  isMembers(value) &&
  Object.values(value).every(
    (named) =>
      named === null ||
      (isMembers(named) &&
        Object.values(named).every((address) => isText(address) && isAddress(address))),
  );

/**
 * Every setting of the Solidity compilers that can change bytecode or metadata (Solidity documentation,
 * "Compiler Input and Output JSON Description", and the changelog).
 */
const SETTINGS: Readonly<Record<string, Setting>> = {
  remappings: {
    since: STANDARD_JSON_SINCE,
    fits: (value) => Array.isArray(value) && value.every(isRemapping),
  },
  libraries: { since: STANDARD_JSON_SINCE, fits: isLibraries },
  optimizer: {
    members: {
      enabled: flag,
      runs: count,
      details: {
        since: '0.5.0',
        members: {
          peephole: flag,
          inliner: flag,
          jumpdestRemover: flag,
          orderLiterals: flag,
          deduplicate: flag,
          cse: flag,
          constantOptimizer: flag,
          simpleCounterForLoopUncheckedIncrement: flag,
          yul: flag,
          yulDetails: {
            members: {
              stackAllocation: flag,
              optimizerSteps: { since: '0.6.11' },
            },
          },
        },
      },
    },
  },
  evmVersion: {
    since: '0.4.21',
    ...oneOf(
      'homestead',
      'tangerineWhistle',
      'spuriousDragon',
      'byzantium',
      'constantinople',
      'petersburg',
      'istanbul',
      'berlin',
    ),
  },
  metadata: {
    since: STANDARD_JSON_SINCE,
    members: {
      useLiteralContent: flag,
      bytecodeHash: { since: '0.6.0' },
      appendCBOR: { since: '0.8.18' },
    },
  },
  debug: { since: '0.6.1' },
  viaIR: { since: '0.7.5' },
  eofVersion: { since: '0.8.29' },
  experimental: { since: '0.8.34' },
  viaSSACFG: { since: '0.8.34' },
};

const ignored: Setting = { isIgnored: true };

/**
 * Every setting of Solar 0.3.0 that can change bytecode or metadata, except its unstable flags; also settings
 * that tools send and Solar ignores.
 */
const SOLAR_SETTINGS: Readonly<Record<string, Setting>> = {
  remappings: { fits: (value) => Array.isArray(value) && value.every(isRemapping) },
  libraries: { fits: isLibraries },
  optimizer: { members: { enabled: flag, runs: count, details: ignored } },
  // The compiler rejects EVM versions that it does not know.
  evmVersion: { fits: (value) => isText(value) && /^[A-Za-z]{1,32}$/.test(value) },
  metadata: {
    members: {
      useLiteralContent: flag,
      bytecodeHash: oneOf('ipfs', 'bzzr1', 'none'),
      appendCBOR: flag,
    },
  },
  debug: { members: { revertStrings: oneOf('default', 'strip', 'debug') } },
  viaIR: ignored,
  viaSSACFG: ignored,
  eofVersion: ignored,
  experimental: ignored,
};

/** Settings that no bytecode depends on. This service sets the output selection itself. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'outputSelection',
  'modelChecker',
  'modelCheckerSettings',
  'parserErrorRecovery',
  'compilationTarget',
]);

/**
 * Returns the settings as they are compiled and published, without those that have no effect on the bytecode.
 * Compilers before 0.6, and Solar, ignore unknown settings, so a submitter could write anything into the
 * record of a contract. For these compilers only the settings that they read are kept.
 * @throws VerificationFailure unsupported_setting, invalid_compiler_input; FullmatchError
 * invalid_compiler_version.
 */
export function cleanSettings(settings: Members, version: string): Members {
  const used = Object.fromEntries(
    Object.entries(settings)
      .filter(([name]) => !WITHOUT_EFFECT.has(name))
      .map(([name, value]) => [name, CLEANERS.get(name)?.(value) ?? value]),
  );
  if (Object.hasOwn(used, 'stopAfter')) throw unsupported('stopAfter', version);
  if (isSolarVersion(version)) return cleanMembers(used, SOLAR_SETTINGS, version, '');
  if (compareVersions(version, STRICT_SINCE) >= 0) return used;
  if (compareVersions(version, STANDARD_JSON_SINCE) < 0) requireFixedRuns(used, version);
  return cleanMembers(used, SETTINGS, version, '');
}

/** Removes the parts of single settings that neither bytecode nor metadata reflects. */
const CLEANERS: ReadonlyMap<string, (value: unknown) => unknown> = new Map([
  ['libraries', withoutEmptyPaths],
  ['debug', withoutDebugInfo],
]);

/** Removes `debugInfo`, which selects the comments in the compiler's assembly. */
function withoutDebugInfo(debug: unknown): unknown {
  if (!isMembers(debug)) return debug;
  return Object.fromEntries(Object.entries(debug).filter(([name]) => name !== 'debugInfo'));
}

/** A path without libraries leaves no trace in bytecode or metadata. */
function withoutEmptyPaths(libraries: unknown): unknown {
  if (!isMembers(libraries)) return libraries;
  const isEmpty = (named: unknown): boolean => isMembers(named) && Object.keys(named).length === 0;
  return Object.fromEntries(Object.entries(libraries).filter(([, named]) => !isEmpty(named)));
}

function withoutNulls(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function cleanMembers(
  given: Members,
  known: Readonly<Record<string, Setting>>,
  version: string,
  path: string,
): Members {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const setting = Object.hasOwn(known, name) ? known[name] : undefined;
      if (setting === undefined) throw unsupported(path + name, version);
      const { since, isIgnored, fits, members } = setting;
      // Null counts as missing.
      if (
        value === null ||
        isIgnored === true ||
        (since !== undefined && compareVersions(version, since) < 0)
      )
        return [];
      if (members === undefined) {
        if (fits?.(value) !== true) throw malformed(path + name);
        return [[name, isMembers(value) ? withoutNulls(value) : value]];
      }
      if (!isMembers(value)) throw malformed(path + name);
      return [[name, cleanMembers(value, members, version, `${path}${name}.`)]];
    }),
  );
}

/**
 * Compilers before standard JSON accept no `runs`, only whether to optimize.
 * @throws VerificationFailure unsupported_setting
 */
function requireFixedRuns({ optimizer }: Members, version: string): void {
  if (!isMembers(optimizer) || optimizer['enabled'] !== true) return;
  const { runs } = optimizer;
  if (runs === undefined || runs === null || runs === DEFAULT_RUNS) return;
  throw unsupported('optimizer.runs', version);
}

function unsupported(name: string, version: string): VerificationFailure {
  const shown = printableText(`settings.${name}`, NAME_SHOWN_CHARACTERS);
  return new VerificationFailure(
    'unsupported_setting',
    `${shown} is not a setting that Solidity ${printableText(version, NAME_SHOWN_CHARACTERS)} compiles code with; remove it.`,
    { data: { setting: shown } },
  );
}

function malformed(name: string): VerificationFailure {
  const shown = printableText(`settings.${name}`, NAME_SHOWN_CHARACTERS);
  return new VerificationFailure(
    'invalid_compiler_input',
    `${shown} does not have the form that the compiler reads; correct it.`,
    { data: { setting: shown } },
  );
}
