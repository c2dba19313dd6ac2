import { declarationsIn } from './build-standard-json.ts';
import { type StandardJsonInput } from './standard-json.ts';
import { vyperContractsIn } from './vyper-sources.ts';

/** The sources of an input that declare a contract of this name, by their paths. */
export function findDeclarations(
  name: string,
  { language, sources }: StandardJsonInput,
): readonly string[] {
  const texts = Object.entries(sources).map(([path, { content = '' }]) => [path, content] as const);
  const declared =
    language === 'Vyper'
      ? vyperContractsIn(Object.keys(sources))
      : declarationsIn(Object.fromEntries(texts));
  return declared.filter((each) => each.name === name).map(({ path }) => path);
}

/**
 * The contract of an input as `path:Name`: a name with a path as it is, and a name alone with the one source that declares it.
 * @returns undefined where the name is empty or leaves open which contract it is
 */
export function findDeclaration(name: string, input: StandardJsonInput): string | undefined {
  if (name.includes(':')) return name;
  const [only, another] = findDeclarations(name, input);
  return only !== undefined && another === undefined ? `${only}:${name}` : undefined;
}
