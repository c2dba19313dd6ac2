import { type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { additionalMembers } from '../../../solidity/to-standard-json.ts';
import { isMembers, type Members } from '../../../lib/members.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { withChangedSetting } from '../change-settings.ts';
import { VerificationFailure } from '../../verification-failure.ts';
import { type Language } from './language.ts';

const NAME_SHOWN_CHARACTERS = 120;
const MAX_SEARCH_PATHS = 100;

const isEmpty = (value: unknown): boolean =>
  (isMembers(value) || Array.isArray(value)) && Object.keys(value).length === 0;
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const OPTIMIZATIONS: ReadonlySet<unknown> = new Set([true, false, 'gas', 'codesize', 'none']);

/**
 * Every compiler setting that can change bytecode (Vyper documentation, "Compiler Input and Output JSON
 * Description").
 */
const SETTINGS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  // The compiler rejects EVM versions that it does not know.
  ['evmVersion', (value: unknown) => typeof value === 'string' && /^[A-Za-z]{1,32}$/.test(value)],
  ['optimize', (value: unknown) => OPTIMIZATIONS.has(value)],
  ['bytecodeMetadata', isFlag],
  ['experimentalCodegen', isFlag],
  // One setting under two names: in 0.4.1, and from 0.4.2 on.
  ['venom', isFlag],
  ['venomExperimental', isFlag],
  ['debug', isFlag],
  ['enable_decimals', isFlag],
  [
    'search_paths',
    (value: unknown) =>
      Array.isArray(value) &&
      value.length <= MAX_SEARCH_PATHS &&
      value.every((each) => typeof each === 'string'),
  ],
]);

const MORE_MEMBERS = ['interfaces', 'storage_layout_overrides'];
const CODES = ['evm.bytecode.object', 'evm.deployedBytecode.object'];

function cleanSettings(settings: Members): Members {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => {
      const fits = SETTINGS.get(name);
      // Tools send empty Solidity settings for every language: `libraries: {}`.
      const isNothing = value === null || (fits === undefined && isEmpty(value));
      if (name === 'outputSelection' || isNothing) return [];
      const shown = printableText(`settings.${name}`, NAME_SHOWN_CHARACTERS);
      if (fits === undefined) {
        throw new VerificationFailure(
          'unsupported_setting',
          `${shown} is not a setting that Vyper compiles code with; remove it.`,
          { data: { setting: shown } },
        );
      }
      if (fits(value)) return [[name, value]];
      throw new VerificationFailure(
        'invalid_compiler_input',
        `${shown} does not have the form that the compiler reads; correct it.`,
        { data: { setting: shown } },
      );
    }),
  );
}

function select(
  input: StandardJsonInput,
  path: string,
  outputs: readonly string[],
): StandardJsonInput {
  // A null prototype keeps a path such as `__proto__` an ordinary key.
  const outputSelection = Object.assign(Object.create(null), { [path]: outputs }) as object;
  return {
    ...input,
    ...additionalMembers(input),
    settings: { ...input.settings, outputSelection },
  };
}

/** Returns the input with the syntax trees of some sources as its output selection. */
export function selectTrees(input: StandardJsonInput, paths: readonly string[]): StandardJsonInput {
  const selected = paths.map((each) => [each, ['ast']] as const);
  // `fromEntries` defines own members, so a path such as `__proto__` stays an ordinary key.
  const outputSelection = Object.fromEntries(selected);
  return {
    ...input,
    ...additionalMembers(input),
    settings: { ...input.settings, outputSelection },
  };
}

/** Removes a member of an input; returns the same input if it has none. */
const without =
  (name: string) =>
  (input: StandardJsonInput): StandardJsonInput => {
    if (!Object.hasOwn(input, name)) return input;
    const { language, sources, settings } = input;
    const others = Object.entries(input).filter(([member]) => member !== name);
    return { language, sources, settings, ...Object.fromEntries(others) };
  };

/** Vyper, from 0.1.0-beta.16 on: one contract per source, named like the file. It writes no metadata. */
export const VYPER_LANGUAGE: Language = {
  compiler: 'vyper',
  cleanSettings,
  moreMembers: MORE_MEMBERS,
  selectTarget: (input, { path }) => [select(input, path, ['abi', 'devdoc', 'userdoc', ...CODES])],
  selectCodes: (input) => [select(input, '*', CODES)],
  // The output lists the sources it was asked to compile, whether they are imported or not.
  listsImports: () => false,
  spare: [
    without('interfaces'),
    without('storage_layout_overrides'),
    (input) => {
      const settings = withChangedSetting(input.settings, ['search_paths'], () => undefined);
      return settings === input.settings ? input : { ...input, settings };
    },
  ],
};
