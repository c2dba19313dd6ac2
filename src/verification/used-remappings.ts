import { bytesOfLiteral, readSourceTokens } from './source-tokens.ts';

/** What says which remappings are used. */
export interface Remapped {
  readonly remappings: readonly unknown[];
  /** Each source by its path. */
  readonly sources: Readonly<Record<string, string>>;
}

function folderOf(path: string): string {
  let end = path.lastIndexOf('/');
  if (end === -1) return '';
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, Math.max(1, end));
}

/** The path that a source imports by a relative one, as all versions of the compiler lead it; any other path as it is. */
function leadImport(source: string, imported: string): string {
  if (!/^\.\.?(?:\/|$)/.test(imported)) return imported;
  let folder = folderOf(source);
  for (const part of imported.split('/')) {
    if (part === '..') folder = folder === '/' ? '' : folderOf(folder);
    else if (part !== '.' && part !== '') folder += /^$|\/$/.test(folder) ? part : `/${part}`;
  }
  return folder;
}

/** The paths that a source imports. An escape in one is read as the compiler reads it. */
function importsOf(path: string, content: string): ReadonlySet<string> {
  const imports = new Set<string>();
  if (!content.includes('import')) return imports;
  let isImport = false;
  for (const token of readSourceTokens(content)) {
    if (token.kind === 'mark' && token.text === ';') isImport = false;
    else if (token.kind === 'word' && token.text === 'import') isImport = true;
    else if (isImport && token.kind === 'literal') {
      imports.add(leadImport(path, bytesOfLiteral(token).toString('utf8')));
    }
  }
  return imports;
}

/**
 * The remappings that may have changed an import: nothing else depends on them. Such a one leads what a source in its
 * context imports to one of the sources, since no other is read, so that all of its text stands in paths (Solidity
 * documentation, "Import Remapping").
 */
export function usedRemappings({ remappings, sources }: Remapped): readonly unknown[] {
  const importing = Object.entries(sources)
    .map(([path, content]) => ({ path, imports: [...importsOf(path, content)] }))
    .filter(({ imports }) => imports.length > 0);
  return remappings.filter((remapping) => {
    const [head = '', ...behind] = String(remapping).split('=');
    const target = behind.join('=');
    const colon = head.indexOf(':');
    const [context, prefix] = [head.slice(0, Math.max(0, colon)), head.slice(colon + 1)];
    const isLed = (path: string): boolean =>
      path.startsWith(prefix) && Object.hasOwn(sources, target + path.slice(prefix.length));
    return importing.some(({ path, imports }) => path.startsWith(context) && imports.some(isLed));
  });
}
