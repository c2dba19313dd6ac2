import { type ConfiguredLibraries } from '../../bytecode/explained-value.ts';
import { compareVersions } from '../../compilers/compiler-version.ts';
import { isAddress } from '../../lib/address-text.ts';
import { type Hex } from '../../lib/hex.ts';

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/**
 * The addresses that `settings.libraries` names. Whether its form is right is the compiler's to say; versions up to 0.4.18
 * take null for nothing, where an object should be.
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

/** A library that the settings link: its file, its name and its address. */
export interface LibraryEntry {
  readonly path: string;
  readonly name: string;
  /** As it was given. */
  readonly address: string;
}

/** Every library of the settings, in their order. */
export function entriesOf(libraries: ConfiguredLibraries): readonly LibraryEntry[] {
  return Object.entries(libraries).flatMap(([path, named]) =>
    Object.entries(named).map(([name, address]) => ({ path, name, address })),
  );
}

/** Since this version a library is linked by its path and name. Before, the compiler drops the paths. */
const LINKED_BY_PATH_SINCE = '0.7.5';

/** Whether a version of the compiler knows the libraries of the settings by their names alone. */
export function isLinkedByName(version: string): boolean {
  return compareVersions(version, LINKED_BY_PATH_SINCE) < 0;
}

/**
 * Says which address a compiler links for `path:Name`, or undefined where it leaves the place open. One that knows names
 * alone takes, of several paths with a library of one name, the last in the order of their bytes. It compares a name first
 * with the whole `path:Name`, then with what follows the first colon (`LinkerObject::matchLibrary` of solc).
 */
export function linkerOf(
  libraries: ConfiguredLibraries,
  version: string,
): (id: string) => Hex | undefined {
  const byName = isLinkedByName(version);
  const inOrder = [...entriesOf(libraries)].sort((left, right) =>
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
