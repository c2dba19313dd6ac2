import { findDeployableContracts } from './build-standard-json.ts';
import { type StandardJsonInput } from './standard-json.ts';
import { vyperContractsIn } from './vyper-sources.ts';

/** Returns the paths of the sources in an input that declare a contract of this name. */
export function findDeclarations(
  name: string,
  { language, sources }: StandardJsonInput,
): readonly string[] {
  const texts = Object.entries(sources).map(([path, { content = '' }]) => [path, content] as const);
  const declared =
    language === 'Vyper'
      ? vyperContractsIn(Object.keys(sources))
      : findDeployableContracts(Object.fromEntries(texts));
  return declared.filter((each) => each.name === name).map(({ path }) => path);
}

/**
 * Returns a contract of an input as `path:Name`: a qualified name unchanged, and a plain name with the only
 * source that declares it.
 * @returns undefined if the name is empty or ambiguous
 */
export function findDeclaration(name: string, input: StandardJsonInput): string | undefined {
  if (name.includes(':')) return name;
  const [only, another] = findDeclarations(name, input);
  return only !== undefined && another === undefined ? `${only}:${name}` : undefined;
}
