import { findCatalogued, isPinned, SOLIDITY_CATALOGUE } from '../sources/solidity-catalogue.ts';
import { SOLC_NAMES } from './solc-names.ts';
import { type Catalogue, type Toolchain } from './toolchain.ts';

const SOLC_CATALOGUE: Catalogue = {
  longVersions: SOLIDITY_CATALOGUE.map(({ longVersion }) => longVersion),
  sha256Of: (longVersion, kind) => {
    const entry = findCatalogued(longVersion);
    return kind === 'native' ? entry?.nativeSha256 : entry?.sha256;
  },
  pins: (longVersion, kind) => {
    const entry = findCatalogued(longVersion);
    if (kind === 'native') return entry?.nativeSha256 !== undefined;
    return entry?.sha256 !== undefined || entry?.keccak256 !== undefined;
  },
  isPinned,
};

/** Solidity's compiler, which also compiles Yul: a soljson for every machine, native builds for some. */
export const SOLC: Toolchain = {
  compiler: 'solc',
  label: 'Solidity',
  downloadSetting: 'compilers.downloadUrl',
  languages: new Map([
    ['solidity', 'Solidity'],
    ['yul', 'Yul'],
  ]),
  // There are official builds of two earlier releases, which are experimental.
  oldestRelease: '0.1.3',
  names: SOLC_NAMES,
  catalogue: SOLC_CATALOGUE,
  smallestInput: { language: 'Solidity', sources: { a: { content: '' } }, settings: {} },
  unpacksItself: false,
};
