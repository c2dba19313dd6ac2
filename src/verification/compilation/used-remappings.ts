import { bytesOfLiteral, readSourceTokens } from './source-tokens.ts';

/** The data that decides which remappings are used. */
export interface RemappingContext {
  readonly remappings: readonly unknown[];
  /** Source text by path. */
  readonly sources: Readonly<Record<string, string>>;
}

/**
 * Limit on resolved import paths: each relative import in a source with a long path is as long as that path.
 * Inputs of large projects have 500,000 characters.
 */
const IMPORTED_CHARACTERS = 20_000_000;
/** A tenth of a second of work. Inputs of large projects, with 100 remappings and 5,000 imports, need a tenth of it. */
const COMPARED_CHARACTERS = 100_000_000;

/** Longer than any source path; an import as written may contain `..`. */
const IMPORT_CHARACTERS = 16_384;

function folderOf(path: string): string {
  let end = path.lastIndexOf('/');
  if (end === -1) return '';
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, Math.max(1, end));
}

/** Resolves a relative import of a source as all compiler versions do; returns any other path unchanged. */
function leadImport(source: string, imported: string): string {
  if (!/^\.\.?(?:\/|$)/.test(imported)) return imported;
  let folder = folderOf(source);
  for (const part of imported.split('/')) {
    if (part === '..') folder = folder === '/' ? '' : folderOf(folder);
    else if (part !== '.' && part !== '') {
      folder += folder === '' || folder.endsWith('/') ? part : `/${part}`;
    }
  }
  return folder;
}

/** Returns the imports of a source as written, with escapes decoded like the compiler does. */
function importsOf(content: string): ReadonlySet<string> {
  const imports = new Set<string>();
  if (!content.includes('import')) return imports;
  let isImport = false;
  for (const token of readSourceTokens(content)) {
    if (token.kind === 'mark' && token.text === ';') isImport = false;
    else if (token.kind === 'word' && token.text === 'import') isImport = true;
    else if (isImport && token.kind === 'literal') {
      if (token.text.length > IMPORT_CHARACTERS) continue;
      imports.add(bytesOfLiteral(token).toString('utf8'));
    }
  }
  return imports;
}

/**
 * Returns the remappings that may have changed an import: nothing else depends on them. A used remapping maps
 * an import of a source in its context to one of the sources, since no other files are read, so all of its
 * text occurs in paths (Solidity documentation, "Import Remapping"). A remapping that is not found within
 * {@link IMPORTED_CHARACTERS} and {@link COMPARED_CHARACTERS} counts as unused.
 */
export function findUsedRemappings({ remappings, sources }: RemappingContext): readonly unknown[] {
  const importing: { readonly path: string; readonly imports: readonly string[] }[] = [];
  let characters = 0;
  let copied = 0;
  for (const [path, content] of Object.entries(sources)) {
    const imports: string[] = [];
    for (const written of importsOf(content)) {
      characters += path.length + written.length;
      // Each segment of the path is appended to those before it.
      copied += (path.length + written.length) * written.split('/').length;
      if (characters > IMPORTED_CHARACTERS || copied > COMPARED_CHARACTERS) break;
      imports.push(leadImport(path, written));
    }
    if (imports.length > 0) importing.push({ path, imports });
  }
  let compared = 0;
  const begins = (text: string, start: string): boolean => {
    compared += 1 + Math.min(text.length, start.length);
    return compared <= COMPARED_CHARACTERS && text.startsWith(start);
  };
  return remappings.filter((remapping) => {
    const [head = '', ...behind] = String(remapping).split('=');
    const target = behind.join('=');
    const colon = head.indexOf(':');
    const [context, prefix] = [head.slice(0, Math.max(0, colon)), head.slice(colon + 1)];
    const isLed = (path: string): boolean => {
      if (!begins(path, prefix)) return false;
      compared += target.length + path.length;
      return Object.hasOwn(sources, target + path.slice(prefix.length));
    };
    if (compared > COMPARED_CHARACTERS) return false;
    return importing.some(({ path, imports }) => begins(path, context) && imports.some(isLed));
  });
}
