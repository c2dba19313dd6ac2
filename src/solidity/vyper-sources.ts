import { type Declaration, isOwnEvmVersion } from './build-standard-json.ts';
import { type StandardJsonInput } from './standard-json.ts';

const SUFFIX = '.vy';

/** The contracts of sources in Vyper: each file is one, which has its name. */
export function vyperContractsIn(paths: readonly string[]): readonly Declaration[] {
  return paths
    .filter((path) => path.endsWith(SUFFIX))
    .map((path) => ({ path, name: path.slice(path.lastIndexOf('/') + 1, -SUFFIX.length) }));
}

/** The standard JSON input of sources in Vyper. What is not said is the compiler's own, or that of a pragma. */
export function buildVyperJson(
  sources: Readonly<Record<string, string>>,
  evmVersion = '',
): StandardJsonInput {
  const texts = Object.entries(sources).map(([path, content]) => [path, { content }] as const);
  return {
    language: 'Vyper',
    sources: Object.fromEntries(texts),
    settings: isOwnEvmVersion(evmVersion) ? {} : { evmVersion },
  };
}
