import { compareVersions } from '../../../compilers/compiler-version.ts';
import {
  narrowOutputSelection,
  selectObjects,
  widenOutputSelection,
} from '../../../compilers/output-selection.ts';
import { type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { isMembers } from '../../../lib/members.ts';
import { withChangedSetting, DETAILS, STEPS } from '../change-settings.ts';
import { cleanSettings, DEFAULT_RUNS } from '../clean-settings.ts';
import { type Language } from './language.ts';

type Settings = StandardJsonInput['settings'];

/**
 * Changes to the settings of a partial match, each of which removes something that may have no effect on the
 * bytecode: the optimizer details, the Yul details, the steps alone, and the runs of a disabled optimizer.
 */
const SPARE_SETTINGS: readonly ((settings: Settings) => Settings)[] = [
  (settings) => withChangedSetting(settings, DETAILS, () => undefined),
  (settings) => {
    const withoutYul = withChangedSetting(settings, [...DETAILS, 'yul'], () => undefined);
    return withChangedSetting(withoutYul, [...DETAILS, 'yulDetails'], () => undefined);
  },
  (settings) => withChangedSetting(settings, STEPS, () => undefined),
  (settings) => {
    const { optimizer } = settings;
    if (isMembers(optimizer) && optimizer['enabled'] === true) return settings;
    return withChangedSetting(settings, ['optimizer', 'runs'], (runs) =>
      runs === DEFAULT_RUNS ? runs : undefined,
    );
  },
];

/** From this version on, metadata lists what the contract imports; before, all sources of the input. */
const LISTS_IMPORTS_SINCE = '0.4.12';

/** Solidity, compiled by solc or Solar. */
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

/** Yul, which the same compiler compiles: one source without imports. */
export const YUL_LANGUAGE: Language = { ...SOLIDITY_LANGUAGE, listsImports: () => true };
