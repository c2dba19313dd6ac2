import { distance } from 'fastest-levenshtein';
import { FullmatchError } from '../errors.ts';
import { printableText } from '../lib/printable-text.ts';
import { splitQualifiedName } from '../solidity/library-id.ts';

/** How many contracts an error lists. */
const CONTRACTS_SHOWN = 20;

function unusable(message: string): FullmatchError {
  return new FullmatchError('verification_input_unusable', message);
}

/**
 * The one contract of this name.
 * @param contracts the contracts of the input, as `path:Name`
 * @throws FullmatchError verification_input_unusable, with the candidates, where there is none or more than one
 */
export function chooseByName(name: string, contracts: readonly string[]): string {
  const all = [...new Set(contracts)].sort();
  const called = all.filter((each) => nameOf(each) === name);
  const [only, another] = called;
  if (only === undefined) throw unknownContract(name, all);
  if (another === undefined) return only;
  throw unusable(
    `Several contracts are called ${printableText(name)}; add the path, such as --contract ${printableText(only)}.${listed(called)}`,
  );
}

/** No contract is called so; those whose names are nearest are listed first. */
export function unknownContract(name: string, contracts: readonly string[]): FullmatchError {
  const [, wanted] = splitQualifiedName(name);
  const farness = (id: string): number => distance(nameOf(id).toLowerCase(), wanted.toLowerCase());
  const nearest = [...contracts].sort((one, other) => farness(one) - farness(other));
  return unusable(`The input has no contract ${printableText(name)}.${listed(nearest)}`);
}

/** Asks for the contract, and lists those that it may be. */
export function whichContract(contracts: readonly string[]): FullmatchError {
  return unusable(`Which contract? Add --contract path:Name.${listed(contracts)}`);
}

const nameOf = (id: string): string => splitQualifiedName(id)[1];

function listed(contracts: readonly string[]): string {
  const shown = contracts.slice(0, CONTRACTS_SHOWN).map((name) => printableText(name));
  if (shown.length === 0) return '';
  const more = contracts.length - shown.length;
  return ` It may be: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}
