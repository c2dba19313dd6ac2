import { type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { isMembers, type Members } from '../../../lib/members.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { changeAt } from '../change-settings.ts';
import { VerificationFailure } from '../../verification-failure.ts';
import { type Language } from './language.ts';

const NAME_SHOWN_CHARACTERS = 120;
const MOST_SEARCH_PATHS = 100;

const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const OPTIMIZATIONS: ReadonlySet<unknown> = new Set([true, false, 'gas', 'codesize', 'none']);

/** Every setting of the compilers that can change code (Vyper documentation, "Compiler Input and Output JSON Description"). */
const SETTINGS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  // What it does not know, the compiler refuses.
  ['evmVersion', (value: unknown) => typeof value === 'string' && /^[A-Za-z]{1,32}$/.test(value)],
  ['optimize', (value: unknown) => OPTIMIZATIONS.has(value)],
  ['bytecodeMetadata', isFlag],
  ['experimentalCodegen', isFlag],
  ['venomExperimental', isFlag],
  ['debug', isFlag],
  ['enable_decimals', isFlag],
  [
    'search_paths',
    (value: unknown) =>
      Array.isArray(value) &&
      value.length <= MOST_SEARCH_PATHS &&
      value.every((each) => typeof each === 'string'),
  ],
]);

const MORE_MEMBERS = ['interfaces', 'storage_layout_overrides'];
const CODES = ['evm.bytecode.object', 'evm.deployedBytecode.object'];

function cleanSettings(settings: Members): Members {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => {
      // Tools of Solidity write it into every input. Vyper links no libraries.
      if (name === 'libraries' && isMembers(value) && Object.keys(value).length === 0) return [];
      // Null is taken for nothing.
      if (name === 'outputSelection' || value === null) return [];
      const fits = SETTINGS.get(name);
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
  // Computed, so that a path named like a special property stays a name.
  const outputSelection = Object.assign(Object.create(null), { [path]: outputs }) as object;
  return { ...input, ...parsedMembers(input), settings: { ...input.settings, outputSelection } };
}

/** The further members as the compiler reads them; within the service they are JSON texts. */
function parsedMembers(input: StandardJsonInput): Members {
  return Object.fromEntries(
    MORE_MEMBERS.flatMap((name) => {
      const text = input[name];
      return typeof text === 'string' ? [[name, JSON.parse(text) as unknown]] : [];
    }),
  );
}

/** An input without a member, or the same input where it has none. */
const without =
  (name: string) =>
  (input: StandardJsonInput): StandardJsonInput => {
    if (!Object.hasOwn(input, name)) return input;
    const { language, sources, settings } = input;
    const others = Object.entries(input).filter(([member]) => member !== name);
    return { language, sources, settings, ...Object.fromEntries(others) };
  };

/** Vyper, from 0.1.0-beta.16 on: one contract a source, named as the file is. It writes no metadata. */
export const VYPER_LANGUAGE: Language = {
  compiler: 'vyper',
  cleanSettings,
  moreMembers: MORE_MEMBERS,
  selectTarget: (input, { path }) => select(input, path, ['abi', 'devdoc', 'userdoc', ...CODES]),
  selectCodes: (input) => select(input, '*', CODES),
  // It lists what it was asked to compile, whatever that imports.
  listsImports: () => false,
  spare: [
    without('interfaces'),
    without('storage_layout_overrides'),
    (input) => {
      const settings = changeAt(input.settings, ['search_paths'], () => undefined);
      return settings === input.settings ? input : { ...input, settings };
    },
  ],
};
