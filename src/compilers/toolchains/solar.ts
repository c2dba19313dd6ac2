import {
  compareVersions,
  isLongVersion,
  isSolarVersion,
  parseCompilerVersion,
} from '../compiler-version.ts';
import { THIS_MACHINE } from './this-machine.ts';
import { type BuildNames, type Catalogue, type NamedBuild, type Toolchain } from './toolchain.ts';

const FILE_NAME = /^(solar-linux-(?:amd64|arm64))-v(\d[\w.+-]{0,120})$/;
/** The builds that each machine runs, as their files begin. */
const PREFIXES: Readonly<Record<string, string>> = {
  'linux x64': 'solar-linux-amd64',
  'linux arm64': 'solar-linux-arm64',
};
const NAMED_PREFIX = 'solar-linux-amd64';
/** The first version whose output says where immutables, libraries and metadata are in a code. */
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

/** Programs as the releases pack them, under names that say their version. */
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
  // Nobody publishes single files: the releases are archives.
  kindsOf: () => [],
};

/** No build is pinned: a list of the operator names the SHA-256 of each. */
const SOLAR_CATALOGUE: Catalogue = {
  longVersions: [],
  sha256Of: () => undefined,
  pins: () => false,
  isPinned: () => Promise.resolve(undefined),
};

/** Solar, the compiler of Solidity in Rust: native builds that the operator puts into the folder of compilers. */
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
