import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { isMembers } from '../../lib/members.ts';

type Settings = StandardJsonInput['settings'];

/** Settings with another value at a path; undefined takes it away. The same object where nothing is there to change. */
export function changeAt(
  settings: Settings,
  [key = '', ...path]: readonly string[],
  change: (value: unknown) => unknown,
): Settings {
  if (!Object.hasOwn(settings, key)) return settings;
  const { [key]: value, ...others } = settings;
  const inner = isMembers(value) ? changeAt(value, path, change) : value;
  const changed = path.length === 0 ? change(value) : inner;
  if (changed === value) return settings;
  return changed === undefined ? others : { ...settings, [key]: changed };
}

/** Where the details of the optimizer are. */
export const DETAILS = ['optimizer', 'details'];
/** Where the steps of the part of the optimizer for Yul are. */
export const STEPS = [...DETAILS, 'yulDetails', 'optimizerSteps'];

/** The compiler passes over blanks and line feeds between the steps of its optimizer. */
export const withoutBlanks = (steps: unknown): unknown =>
  typeof steps === 'string' ? steps.replace(/[ \n]/g, '') : steps;
