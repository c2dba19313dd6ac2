import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { isMembers } from '../../lib/members.ts';

type Settings = StandardJsonInput['settings'];

/**
 * Returns settings with the value at a path changed; undefined removes it. Returns the same object if there
 * is nothing to change.
 */
export function withChangedSetting(
  settings: Settings,
  [key = '', ...path]: readonly string[],
  change: (value: unknown) => unknown,
): Settings {
  if (!Object.hasOwn(settings, key)) return settings;
  const { [key]: value, ...others } = settings;
  const inner = isMembers(value) ? withChangedSetting(value, path, change) : value;
  const changed = path.length === 0 ? change(value) : inner;
  if (changed === value) return settings;
  return changed === undefined ? others : { ...settings, [key]: changed };
}

/** Path of the optimizer details. */
export const DETAILS = ['optimizer', 'details'];
/** Path of the step sequence of the Yul optimizer. */
export const STEPS = [...DETAILS, 'yulDetails', 'optimizerSteps'];

/** The compiler ignores spaces and line feeds between optimizer steps. */
export const withoutWhitespace = (steps: unknown): unknown =>
  typeof steps === 'string' ? steps.replace(/[ \n]/g, '') : steps;
