import {
  compareVersions,
  isLongVersion,
  isSolarVersion,
  STANDARD_JSON_SINCE,
} from '../compiler-version.ts';
import { THIS_MACHINE } from './this-machine.ts';
import { type BuildKind, type BuildNames, type NamedBuild } from './toolchain.ts';

const SOLJSON_NAME = /^soljson-v(\d[\w.+-]{0,120})\.js$/;
const NATIVE_NAME = /^(solc-linux-(?:amd64|arm64))-v(\d[\w.+-]{0,120})$/;
/** File name prefixes of the native builds for each machine. */
const NATIVE_PREFIXES: Readonly<Record<string, string>> = {
  'linux x64': 'solc-linux-amd64',
  'linux arm64': 'solc-linux-arm64',
};
/** Prefix of the native builds among the official binaries. */
const PUBLISHED_NATIVE = 'solc-linux-amd64';
const SOLJSON_FOLDER = 'bin';
const NATIVE_FOLDER = 'linux-amd64';

/** Returns the file name of a version in the layout of the official binaries. */
function fileNameOf(longVersion: string, kind: BuildKind): string {
  return kind === 'soljson' ? `soljson-v${longVersion}.js` : `${PUBLISHED_NATIVE}-v${longVersion}`;
}

/** Returns the folder of a kind of build in the layout of the official binaries. */
function folderOf(kind: BuildKind): string {
  return kind === 'soljson' ? SOLJSON_FOLDER : NATIVE_FOLDER;
}

/** Returns the prefix of the native builds published for a machine; undefined if there are none. */
function nativeBuilds(machine = THIS_MACHINE): string | undefined {
  return NATIVE_PREFIXES[machine] === PUBLISHED_NATIVE ? PUBLISHED_NATIVE : undefined;
}

/** Returns whether a native build of a version could be used: those before standard JSON have another interface. */
function hasUsableNative(longVersion: string): boolean {
  return compareVersions(longVersion, STANDARD_JSON_SINCE) >= 0;
}

/**
 * Identifies a build for any machine by its file name; undefined if it is not a build. Native builds without
 * standard JSON do not count.
 */
function readBuildName(fileName: string): (NamedBuild & { readonly prefix?: string }) | undefined {
  const soljson = SOLJSON_NAME.exec(fileName)?.[1];
  const [, prefix, native] = NATIVE_NAME.exec(fileName) ?? [];
  const longVersion = soljson ?? native;
  if (longVersion === undefined || !isLongVersion(longVersion)) return undefined;
  if (isSolarVersion(longVersion)) return undefined;
  if (soljson !== undefined) return { fileName, longVersion, kind: 'soljson' };
  if (!hasUsableNative(longVersion)) return undefined;
  return { fileName, longVersion, kind: 'native', ...(prefix !== undefined && { prefix }) };
}

/**
 * Identifies a file that this machine can run: `soljson-v<long version>.js`, or a native build,
 * `solc-linux-amd64-v<long version>`. Returns undefined for any other file.
 */
function readFileName(fileName: string, machine = THIS_MACHINE): NamedBuild | undefined {
  const build = readBuildName(fileName);
  if (build === undefined) return undefined;
  const { longVersion, kind, prefix } = build;
  if (kind === 'native' && prefix !== NATIVE_PREFIXES[machine]) return undefined;
  return { fileName, longVersion, kind };
}

/** File names and paths in the layout of the official binaries. */
export const SOLC_NAMES: BuildNames = {
  fileNameOf,
  pathOf: (longVersion, kind) =>
    `${folderOf(kind)}/${encodeURIComponent(fileNameOf(longVersion, kind))}`,
  readBuildName,
  readFileName,
  kindsOf: (longVersion, { native }) =>
    native && hasUsableNative(longVersion) && nativeBuilds() !== undefined
      ? ['native', 'soljson']
      : ['soljson'],
  listFolders: { soljson: SOLJSON_FOLDER, native: NATIVE_FOLDER },
};
