import { type CompilerFile, type CompilerName } from '../compiler-file.ts';

/** What a build is run by. */
export type BuildKind = CompilerFile['kind'];

/** A build by the name of its file. */
export interface NamedBuild {
  readonly fileName: string;
  readonly longVersion: string;
  readonly kind: BuildKind;
}

/** How the builds of a compiler are named and published. */
export interface BuildNames {
  /** The name of a version's file. */
  fileNameOf(longVersion: string, kind: BuildKind): string;
  /** Where that file is below the base of the published builds. */
  pathOf(longVersion: string, kind: BuildKind): string;
  /** The build that a file is by its name, for whatever machine; undefined for what is not a build. */
  readBuildName(fileName: string): NamedBuild | undefined;
  /** The same for what this machine may run. */
  readFileName(fileName: string, machine?: string): NamedBuild | undefined;
  /** The kinds that are published of a version for this machine, the faster first. */
  kindsOf(longVersion: string, options: { readonly native: boolean }): readonly BuildKind[];
  /** Where lists of the published builds are, by their kinds; undefined where nobody publishes one. */
  readonly listFolders?: Readonly<Record<BuildKind, string>>;
}

/** The builds whose checksums this program pins. */
export interface Catalogue {
  /** Their long versions, oldest first. */
  readonly longVersions: readonly string[];
  /** The checksum of a published build, lower-case hex. */
  sha256Of(longVersion: string, kind: BuildKind): string | undefined;
  /** Whether a build is pinned, by whatever checksum. */
  pins(longVersion: string, kind: BuildKind): boolean;
  /** Whether a file is the pinned build; undefined where the catalogue cannot tell. */
  isPinned(
    longVersion: string,
    kind: BuildKind,
    file: { readonly sha256: string; readonly path: string },
  ): Promise<boolean | undefined>;
}

/** What is one compiler's own: its languages, and how its builds are named, published, pinned and started. */
export interface Toolchain {
  /** As records name it. */
  readonly compiler: CompilerName;
  /** As people call it. */
  readonly label: string;
  /** The languages that it takes, by our name and as standard JSON writes them. */
  readonly languages: ReadonlyMap<string, string>;
  /** The setting that says where its builds are downloaded from; absent where none is downloaded. */
  readonly downloadSetting?: string;
  /** Older releases are not run here. */
  readonly oldestRelease: string;
  /** Why a version is not run here, as a sentence; undefined where it is. Absent where all are. */
  readonly refusalOf?: (version: string) => string | undefined;
  readonly names: BuildNames;
  readonly catalogue: Catalogue;
  /** What every build compiles. */
  readonly smallestInput: object;
  /** Whether its native builds unpack themselves into a temporary folder. */
  readonly unpacksItself: boolean;
}
