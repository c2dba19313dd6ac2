import {
  compareVersions,
  isLongVersion,
  isSolarVersion,
  parseCompilerVersion,
} from '../compiler-version.ts';
import { THIS_MACHINE } from './this-machine.ts';
import { type BuildNames, type Catalogue, type NamedBuild, type Toolchain } from './toolchain.ts';

const FILE_NAME = /^(solar-linux-(?:amd64|arm64))-v(\d[\w.+-]{0,120})$/;
/** File name prefixes of the builds for each machine. */
const PREFIXES: Readonly<Record<string, string>> = {
  'linux x64': 'solar-linux-amd64',
  'linux arm64': 'solar-linux-arm64',
};
const NAMED_PREFIX = 'solar-linux-amd64';
/** The first version whose output contains the positions of immutables, libraries and metadata. */
const FIRST_REPLAYABLE = '0.3.0';

function fileNameOf(longVersion: string): string {
  return `${PREFIXES[THIS_MACHINE] ?? NAMED_PREFIX}-v${longVersion}`;
}

function readBuildName(fileName: string): (NamedBuild & { readonly prefix: string }) | undefined {
  const [, prefix, longVersion] = FILE_NAME.exec(fileName) ?? [];
  if (prefix === undefined || longVersion === undefined) return undefined;
  if (!isLongVersion(longVersion) || !isSolarVersion(longVersion)) return undefined;
  return { fileName, longVersion, kind: 'native', prefix };
}

/** Executables as packed in the releases, with their version in the file name. */
const SOLAR_NAMES: BuildNames = {
  fileNameOf,
  pathOf: (longVersion) => encodeURIComponent(fileNameOf(longVersion)),
  readBuildName,
  readFileName: (fileName, machine = THIS_MACHINE) => {
    const build = readBuildName(fileName);
    if (build === undefined || build.prefix !== PREFIXES[machine]) return undefined;
    const { longVersion, kind } = build;
    return { fileName, longVersion, kind };
  },
  // Releases are archives; no single files are published.
  kindsOf: () => [],
};

/** No build is pinned: the operator's list contains the SHA-256 of each. */
const SOLAR_CATALOGUE: Catalogue = {
  longVersions: [],
  sha256Of: () => undefined,
  pins: () => false,
  isPinned: () => Promise.resolve(undefined),
};

/** Solar, the Solidity compiler in Rust: native builds that the operator installs in the compiler folder. */
export const SOLAR: Toolchain = {
  compiler: 'solar',
  label: 'Solar',
  languages: new Map([['solidity', 'Solidity']]),
  oldestRelease: '0.8.0',
  refusalOf: (version) =>
    compareVersions(parseCompilerVersion(version).solar ?? '0.0.0', FIRST_REPLAYABLE) >= 0
      ? undefined
      : `the output of Solar before ${FIRST_REPLAYABLE} has no immutableReferences and no linkReferences, which comparing the code requires.`,
  names: SOLAR_NAMES,
  catalogue: SOLAR_CATALOGUE,
  smallestInput: {
    language: 'Solidity',
    sources: { 'a.sol': { content: 'contract A {}' } },
    settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  },
  unpacksItself: false,
};
