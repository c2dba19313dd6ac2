import { compareVersions } from '../../../compilers/compiler-version.ts';
import {
  narrowOutputSelection,
  selectObjects,
  widenOutputSelection,
} from '../../../compilers/output-selection.ts';
import { type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { isMembers } from '../../../lib/members.ts';
import { changeAt, DETAILS, STEPS } from '../change-settings.ts';
import { cleanSettings, DEFAULT_RUNS } from '../clean-settings.ts';
import { type Language } from './language.ts';

type Settings = StandardJsonInput['settings'];

/**
 * The settings of a partial match, each time without some that may have no effect on the code: the details of the optimizer,
 * those of its part for Yul, the steps alone, and runs for an optimizer that is off.
 */
const SPARE_SETTINGS: readonly ((settings: Settings) => Settings)[] = [
  (settings) => changeAt(settings, DETAILS, () => undefined),
  (settings) => {
    const withoutYul = changeAt(settings, [...DETAILS, 'yul'], () => undefined);
    return changeAt(withoutYul, [...DETAILS, 'yulDetails'], () => undefined);
  },
  (settings) => changeAt(settings, STEPS, () => undefined),
  (settings) => {
    const { optimizer } = settings;
    if (isMembers(optimizer) && optimizer['enabled'] === true) return settings;
    return changeAt(settings, ['optimizer', 'runs'], (runs) =>
      runs === DEFAULT_RUNS ? runs : undefined,
    );
  },
];

/** From this version on metadata lists what the contract imports; before, all that the compiler was given. */
const LISTS_IMPORTS_SINCE = '0.4.12';

/** Solidity. */
export const SOLIDITY_LANGUAGE: Language = {
  compiler: 'solc',
  cleanSettings,
  moreMembers: [],
  selectTarget: (input, target, submitted) =>
    widenOutputSelection(narrowOutputSelection(input, target), submitted),
  selectCodes: selectObjects,
  listsImports: (version) => compareVersions(version, LISTS_IMPORTS_SINCE) >= 0,
  spare: SPARE_SETTINGS.map((spare) => (input) => {
    const settings = spare(input.settings);
    return settings === input.settings ? input : { ...input, settings };
  }),
};

/** Yul, which the same compiler takes: one source, which imports nothing. */
export const YUL_LANGUAGE: Language = { ...SOLIDITY_LANGUAGE, listsImports: () => true };
