import path from 'node:path';
import { isMembers, type Members } from '../../lib/members.ts';

/** An import of a module, as in its syntax tree. */
interface VyperImport {
  /** Number of leading dots: one for the folder itself, one more for each folder up; zero for a search path import. */
  readonly level: number;
  /** `lib.math` */
  readonly module: string;
}

const FILE = /\.(?:vy|vyi|json)$/;
/** Beyond this number of sources with the same name, an import is not resolved. */
const MAX_OF_ONE_NAME = 50;
/** Modules built into the compiler. */
const BUILT_IN = /^(?:ethereum\.ercs|vyper\.interfaces|math)(?:\.|$)/;

function readImports(tree: unknown): readonly VyperImport[] {
  const { body } = isMembers(tree) ? tree : ({} as Members);
  const nodes: readonly unknown[] = Array.isArray(body) ? body : [];
  return nodes.filter(isMembers).flatMap(({ ast_type: kind, name, module, level }) => {
    if (typeof name !== 'string') return [];
    if (kind === 'Import') return [{ level: 0, module: name }];
    if (kind !== 'ImportFrom') return [];
    const within = typeof module === 'string' && module !== '' ? `${module}.${name}` : name;
    return [{ level: typeof level === 'number' ? level : 0, module: within }];
  });
}

/** Returns the one source that an import can resolve to; undefined if there is none or more than one. */
function findImported(
  { level, module }: VyperImport,
  from: string,
  names: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  if (level === 0 && BUILT_IN.test(module)) return undefined;
  const file = module.replaceAll('.', '/');
  const last = file.slice(file.lastIndexOf('/') + 1);
  const wanted =
    level === 0 ? file : path.posix.join(from, ...Array<string>(level).fill('..'), file);
  const named = names.get(last) ?? [];
  if (named.length > MAX_OF_ONE_NAME) return undefined;
  const found = named.filter((source) => {
    const name = path.posix.normalize(source).replace(FILE, '');
    return name === wanted || (level === 0 && name.endsWith(`/${wanted}`));
  });
  return found.length === 1 ? found[0] : undefined;
}

/**
 * Returns whether the integrity hash of a program covers the text of every source. The compiler hashes what a
 * module imports, recursively; of an interface it hashes only the text, not the imports. A source that
 * nothing imports, or that is only one of several candidates for an import, is not covered.
 * @param trees syntax trees of the modules by path
 */
export function isEverySourceHashed(
  main: string,
  sources: readonly string[],
  trees: ReadonlyMap<string, unknown>,
): boolean {
  const names = new Map<string, string[]>();
  for (const source of sources) {
    const name = path.posix.basename(source).replace(FILE, '');
    const known = names.get(name);
    if (known === undefined) names.set(name, [source]);
    else known.push(source);
  }
  const hashed = new Set([main]);
  // The loop also visits the sources added while it runs.
  for (const source of hashed) {
    if (!source.endsWith('.vy')) continue;
    for (const each of readImports(trees.get(source))) {
      const imported = findImported(each, source, names);
      if (imported !== undefined) hashed.add(imported);
    }
  }
  return sources.every((source) => hashed.has(source));
}
