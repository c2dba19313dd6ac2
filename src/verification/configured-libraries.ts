import { type ConfiguredLibraries } from '../bytecode/explained-value.ts';

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
