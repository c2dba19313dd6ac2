import { isLongVersion } from '../compiler-version.ts';
import { type BuildNames, type NamedBuild, type Toolchain } from './toolchain.ts';
import { findVyperBuild, versionOfVyperFile, VYPER_CATALOGUE } from './vyper-catalogue.ts';
import { THIS_MACHINE } from './this-machine.ts';

const FILE_NAME = /^vyper\.(\d[\w.+-]{0,120})\.linux$/;
const MACHINE = 'linux x64';

/**
 * Returns `vyper.0.3.10+commit.91361694.linux`, the name in the releases, also for versions that are not in
 * the catalogue.
 */
function fileNameOf(longVersion: string): string {
  const path = findVyperBuild(longVersion)?.path;
  return path?.slice(path.indexOf('/') + 1) ?? `vyper.${longVersion}.linux`;
}

function readBuildName(fileName: string): NamedBuild | undefined {
  const named = FILE_NAME.exec(fileName)?.[1];
  const longVersion = versionOfVyperFile(fileName) ?? named;
  if (longVersion === undefined || !isLongVersion(longVersion)) return undefined;
  return { fileName, longVersion, kind: 'native' };
}

/** The releases of the compiler: one native build per version, each in its own folder. */
const VYPER_NAMES: BuildNames = {
  fileNameOf,
  pathOf: (longVersion) => {
    const [release = ''] = longVersion.split('+');
    const path = findVyperBuild(longVersion)?.path ?? `v${release}/${fileNameOf(longVersion)}`;
    return path.split('/').map(encodeURIComponent).join('/');
  },
  readBuildName,
  readFileName: (fileName, machine = THIS_MACHINE) =>
    machine === MACHINE ? readBuildName(fileName) : undefined,
  kindsOf: (_longVersion, { native }) => (native && THIS_MACHINE === MACHINE ? ['native'] : []),
};

/** Vyper: executables for Linux on x64 that contain an interpreter and extract themselves on start. */
export const VYPER: Toolchain = {
  compiler: 'vyper',
  label: 'Vyper',
  downloadSetting: 'compilers.vyperDownloadUrl',
  languages: new Map([['vyper', 'Vyper']]),
  oldestRelease: '0.1.0',
  names: VYPER_NAMES,
  catalogue: VYPER_CATALOGUE,
  smallestInput: {
    language: 'Vyper',
    sources: { 'a.vy': { content: '' } },
    settings: { outputSelection: { '*': ['evm.bytecode.object'] } },
  },
  unpacksItself: true,
};
