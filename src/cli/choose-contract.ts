import { distance } from 'fastest-levenshtein';
import { FullmatchError } from '../errors.ts';
import { printableText } from '../lib/printable-text.ts';
import { splitQualifiedName } from '../solidity/library-id.ts';

/** Most contracts that an error lists. */
const CONTRACTS_SHOWN = 20;

/** Error for an input that cannot be verified. */
export function unusableInput(message: string): FullmatchError {
  return new FullmatchError('verification_input_unusable', message);
}

/**
 * Returns the only contract with this name.
 * @param contracts the contracts of the input, as `path:Name`
 * @throws FullmatchError verification_input_unusable, with the candidates, if there is none or more than one
 */
export function findUniqueContract(name: string, contracts: readonly string[]): string {
  const all = [...new Set(contracts)].sort();
  const called = all.filter((each) => nameOf(each) === name);
  const [only, another] = called;
  if (only === undefined) throw unknownContract(name, all);
  if (another === undefined) return only;
  throw unusableInput(
    `Several contracts are called ${printableText(name)}; add the path, such as --contract ${printableText(only)}.${listed(called)}`,
  );
}

/** Returns the error for an unknown contract name; lists the most similar names first. */
export function unknownContract(name: string, contracts: readonly string[]): FullmatchError {
  const [, wanted] = splitQualifiedName(name);
  const farness = (id: string): number => distance(nameOf(id).toLowerCase(), wanted.toLowerCase());
  const nearest = [...contracts].sort((one, other) => farness(one) - farness(other));
  return unusableInput(`The input has no contract ${printableText(name)}.${listed(nearest)}`);
}

/** Returns the error that asks for a contract and lists the candidates. */
export function contractRequiredError(contracts: readonly string[]): FullmatchError {
  return unusableInput(`Which contract? Add --contract path:Name.${listed(contracts)}`);
}

const nameOf = (id: string): string => splitQualifiedName(id)[1];

function listed(contracts: readonly string[]): string {
  const shown = contracts.slice(0, CONTRACTS_SHOWN).map((name) => printableText(name));
  if (shown.length === 0) return '';
  const more = contracts.length - shown.length;
  return ` It may be: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}
