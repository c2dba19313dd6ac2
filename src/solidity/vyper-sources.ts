import { type Declaration, isDefaultEvmVersion } from './build-standard-json.ts';
import { type StandardJsonInput } from './standard-json.ts';
import { toStandardJson } from './to-standard-json.ts';

const SUFFIX = '.vy';
/** Suffixes of importable files: a contract or module, an interface since 0.4.0, an ABI. */
const IMPORTED_SUFFIXES = [SUFFIX, '.vyi', '.json'];
const ABI_SUFFIX = '.json';

/** Returns whether a path is that of a Vyper contract. */
export function isVyperPath(path: string): boolean {
  return path.endsWith(SUFFIX);
}

/** Returns whether Vyper sources can import a file. */
export function isVyperImport(path: string): boolean {
  return IMPORTED_SUFFIXES.some((suffix) => path.endsWith(suffix));
}

/** Returns the contracts of Vyper sources: each file is one, named like the file. */
export function vyperContractsIn(paths: readonly string[]): readonly Declaration[] {
  return paths
    .filter(isVyperPath)
    .map((path) => ({ path, name: path.slice(path.lastIndexOf('/') + 1, -SUFFIX.length) }));
}

/**
 * Builds the standard JSON input of Vyper sources; files ending in .json are ABIs. Settings that are not
 * given have the compiler's default, or that of a pragma.
 * @param interfaces sources that are only imported
 * @param parseAbi parses an ABI, given its path and text
 * @throws what `parseAbi` throws
 */
export function buildVyperJson({
  sources,
  interfaces = {},
  evmVersion = '',
  parseAbi,
}: {
  readonly sources: Readonly<Record<string, string>>;
  readonly interfaces?: Readonly<Record<string, string>>;
  readonly evmVersion?: string;
  readonly parseAbi: (path: string, content: string) => unknown;
}): StandardJsonInput {
  const isAbi = ([path]: readonly [string, string]): boolean => path.endsWith(ABI_SUFFIX);
  const texts = Object.entries(sources);
  const imported = [...texts.filter(isAbi), ...Object.entries(interfaces)].map(
    ([path, content]) =>
      [path, isAbi([path, content]) ? { abi: parseAbi(path, content) } : { content }] as const,
  );
  return toStandardJson({
    language: 'Vyper',
    sources: Object.fromEntries(
      texts.filter((text) => !isAbi(text)).map(([path, content]) => [path, { content }]),
    ),
    settings: isDefaultEvmVersion(evmVersion) ? {} : { evmVersion },
    ...(imported.length > 0 && { interfaces: Object.fromEntries(imported) }),
  });
}

/** `# @version 0.3.10`, or `#pragma version ^0.4.0`, the form since 0.3.10. */
const PRAGMA = /^#[ \t]{0,8}(?:@version|pragma[ \t]{1,8}version)[ \t]{1,8}([^\n]{1,100})$/m;

/** Returns the version range of a source's pragma, with Python operators replaced by those of npm. */
export function vyperPragmaOf(text: string): string | undefined {
  return PRAGMA.exec(text)?.[1]
    ?.replaceAll('~=', '~')
    .replaceAll('==', '=')
    .replaceAll(',', ' ')
    .trim();
}

const IMPORT = /^import[ \t]{1,8}([\w.]{1,500})/gm;
const IMPORT_FROM = /^from[ \t]{1,8}([\w.]{1,500})[ \t]{1,8}import[ \t]{1,8}([^\n#]{1,2000})/gm;

/**
 * Returns the candidate paths of a Vyper source's imports, those relative to the source first. There are
 * several for each import; for the compiler's built-in modules, none of them exists (Vyper documentation,
 * "Searching For Imports").
 */
export function vyperImportsOf(path: string, text: string): readonly string[] {
  const modules = [
    ...Array.from(text.matchAll(IMPORT), ([, name = '']) => name),
    ...Array.from(text.matchAll(IMPORT_FROM), ([, from = '', names = '']) =>
      names
        .replaceAll(/[()]/g, ' ')
        .split(',')
        .map(
          (each) => `${from}${from.endsWith('.') ? '' : '.'}${each.trim().split(/\s/)[0] ?? ''}`,
        ),
    ).flat(),
  ];
  const folder = path.split('/').slice(0, -1);
  return modules.flatMap((module) => {
    const dots = /^\.*/.exec(module)?.[0].length ?? 0;
    const names = module.slice(dots).split('.');
    // One dot is the folder of the source, each further dot one folder up.
    const near = [...folder.slice(0, Math.max(0, folder.length - Math.max(0, dots - 1))), ...names];
    const places = dots > 0 ? [near] : [near, names];
    return places.flatMap((place) => IMPORTED_SUFFIXES.map((suffix) => place.join('/') + suffix));
  });
}
