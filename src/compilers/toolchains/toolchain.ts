import { type CompilerFile, type CompilerName } from '../compiler-file.ts';

/** Kind of a build, which determines how it is run. */
export type BuildKind = CompilerFile['kind'];

/** A build identified by its file name. */
export interface NamedBuild {
  readonly fileName: string;
  readonly longVersion: string;
  readonly kind: BuildKind;
}

/** File names and paths of the builds of a compiler. */
export interface BuildNames {
  /** Returns the file name of a version. */
  fileNameOf(longVersion: string, kind: BuildKind): string;
  /** Returns the path of that file below the base URL of the published builds. */
  pathOf(longVersion: string, kind: BuildKind): string;
  /** Identifies a build for any machine by its file name; undefined if it is not a build. */
  readBuildName(fileName: string): NamedBuild | undefined;
  /** Identifies a build that this machine can run. */
  readFileName(fileName: string, machine?: string): NamedBuild | undefined;
  /** Returns the kinds of build published for a version and this machine, the faster first. */
  kindsOf(longVersion: string, options: { readonly native: boolean }): readonly BuildKind[];
  /** Folders of the lists of published builds, by kind; undefined if none are published. */
  readonly listFolders?: Readonly<Record<BuildKind, string>>;
}

/** The builds whose checksums this program pins. */
export interface Catalogue {
  /** Their long versions, oldest first. */
  readonly longVersions: readonly string[];
  /** Returns the checksum of a published build, lower-case hex. */
  sha256Of(longVersion: string, kind: BuildKind): string | undefined;
  /** Returns whether a build is pinned, by any kind of checksum. */
  pins(longVersion: string, kind: BuildKind): boolean;
  /** Returns whether a file is the pinned build; undefined if the catalogue cannot tell. */
  isPinned(
    longVersion: string,
    kind: BuildKind,
    file: { readonly sha256: string; readonly path: string },
  ): Promise<boolean | undefined>;
}

/** Everything specific to one compiler: its languages, and how its builds are named, published, pinned and started. */
export interface Toolchain {
  /** Name in records. */
  readonly compiler: CompilerName;
  /** Display name. */
  readonly label: string;
  /** Languages that it compiles: the name in this service -> the name in standard JSON. */
  readonly languages: ReadonlyMap<string, string>;
  /** Configuration setting with the download URL of its builds; absent if they are not downloaded. */
  readonly downloadSetting?: string;
  /** Oldest supported release. */
  readonly oldestRelease: string;
  /** Returns why a version is not supported, as a sentence; undefined if it is. Absent if all are. */
  readonly refusalOf?: (version: string) => string | undefined;
  readonly names: BuildNames;
  readonly catalogue: Catalogue;
  /** The smallest input that every build compiles. */
  readonly smallestInput: object;
  /** Whether its native builds extract themselves into a temporary folder. */
  readonly unpacksItself: boolean;
}
