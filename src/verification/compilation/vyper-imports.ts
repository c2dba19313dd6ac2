import path from 'node:path';
import { isMembers, type Members } from '../../lib/members.ts';

/** An import of a module, as its syntax tree says it. */
interface VyperImport {
  /** How many folders up it begins, and one more; zero where the compiler searches. */
  readonly level: number;
  /** `lib.math` */
  readonly module: string;
}

const FILE = /\.(?:vy|vyi|json)$/;
/** More sources of one name are not told apart. */
const MOST_OF_ONE_NAME = 50;
/** Modules that the compiler brings along. */
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

/** The one source that an import can lead to; undefined where it is none, or more than one. */
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
  if (named.length > MOST_OF_ONE_NAME) return undefined;
  const found = named.filter((source) => {
    const name = path.posix.normalize(source).replace(FILE, '');
    return name === wanted || (level === 0 && name.endsWith(`/${wanted}`));
  });
  return found.length === 1 ? found[0] : undefined;
}

/**
 * Whether the integrity hash of a program shows the text of every source. The compiler puts what a module imports into it,
 * and what that imports; of an interface it puts its own text, and nothing of what that imports. A source that nothing
 * imports, or that an import might lead to beside another, is not shown.
 * @param trees syntax trees of the modules by their paths
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
  // What is added meanwhile is walked too.
  for (const source of hashed) {
    if (!source.endsWith('.vy')) continue;
    for (const each of readImports(trees.get(source))) {
      const imported = findImported(each, source, names);
      if (imported !== undefined) hashed.add(imported);
    }
  }
  return sources.every((source) => hashed.has(source));
}
