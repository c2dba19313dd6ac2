import { type ConfiguredLibraries } from '../../bytecode/explained-value.ts';
import { compareVersions } from '../../compilers/compiler-version.ts';
import { isAddress } from '../../lib/address-text.ts';
import { type Hex } from '../../lib/hex.ts';

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/**
 * Returns the addresses in `settings.libraries`. The compiler validates their form; versions up to 0.4.18
 * accept null instead of an object.
 */
export function readConfiguredLibraries({ libraries }: Members): ConfiguredLibraries {
  return Object.fromEntries(
    membersOf(libraries).map(([path, named]) => [
      path,
      Object.fromEntries(
        membersOf(named).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      ),
    ]),
  );
}

/** A library in the settings: its file, name and address. */
export interface LibraryEntry {
  readonly path: string;
  readonly name: string;
  /** As submitted. */
  readonly address: string;
}

/** Lists every library of the settings in order. */
export function libraryEntries(libraries: ConfiguredLibraries): readonly LibraryEntry[] {
  return Object.entries(libraries).flatMap(([path, named]) =>
    Object.entries(named).map(([name, address]) => ({ path, name, address })),
  );
}

/** From this version on, libraries are linked by path and name. Earlier compilers drop the paths. */
const LINKED_BY_PATH_SINCE = '0.7.5';

/** Returns whether a compiler version identifies the libraries of the settings by name alone. */
export function isLinkedByName(version: string): boolean {
  return compareVersions(version, LINKED_BY_PATH_SINCE) < 0;
}

/**
 * Returns a function that maps `path:Name` to the address that a compiler links, or to undefined if it leaves
 * a placeholder. A compiler that links by name alone uses, among paths with a library of the same name, the
 * last one in byte order. It compares a name first with the whole `path:Name`, then with what follows the
 * first colon (`LinkerObject::matchLibrary` of solc).
 */
export function linkedAddressLookup(
  libraries: ConfiguredLibraries,
  version: string,
): (id: string) => Hex | undefined {
  const byName = isLinkedByName(version);
  const inOrder = [...libraryEntries(libraries)].sort((left, right) =>
    Buffer.compare(Buffer.from(left.path), Buffer.from(right.path)),
  );
  const addresses = new Map(
    inOrder.map(({ path, name, address }) => [byName ? name : `${path}:${name}`, address]),
  );
  return (id) => {
    const name = id.slice(id.indexOf(':') + 1);
    const address = addresses.get(id) ?? (byName ? addresses.get(name) : undefined);
    return address !== undefined && isAddress(address) ? (address.toLowerCase() as Hex) : undefined;
  };
}
