import { FullmatchError } from '../errors.ts';
import { printableText } from '../lib/printable-text.ts';
import { type Toolchain } from './toolchains/toolchain.ts';

/** A version as written by a client. */
export interface CompilerVersion {
  /** `0.8.37` */
  readonly release: string;
  /** `nightly.2026.9.9` of a prerelease build. */
  readonly prerelease?: string;
  /** Hex digits of the commit, at least six. */
  readonly commit?: string;
  /** `0.3.0` of a Solar build, whose release is the Solidity release that it implements. */
  readonly solar?: string;
}

/**
 * From this release on, Solidity's compiler reads standard JSON; before, its soljson is called through its
 * own interface.
 */
export const STANDARD_JSON_SINCE = '0.4.11';

const NEAREST_SHOWN = 3;
const MAX_SHOWN_LENGTH = 80;

/**
 * The leading `v`, the commit, and the platform that compilers append to their own version
 * (`.Emscripten.clang`) are optional. Python packages write prereleases without a dash: `0.4.1b1`. The part
 * after `.solar.` is the version of another compiler, not a platform.
 */
const VERSION =
  /^v?(\d{1,4}\.\d{1,4}\.\d{1,4})(?:-([0-9a-z.-]{1,64})|((?:a|b|rc)\d{1,4}))?(?:\+commit\.([0-9a-f]{6,40})(?:\.solar\.(\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[0-9a-z.-]{1,32})?)|(?![\w.+-]*\.solar(?![a-z]))\.[\w.+-]{1,64})?)?$/i;

function shown(text: string): string {
  return `"${printableText(text, MAX_SHOWN_LENGTH)}"`;
}

/**
 * Parses a version in any common spelling.
 * @throws FullmatchError invalid_compiler_version.
 */
export function parseCompilerVersion(text: string): CompilerVersion {
  const [, release, dashed, joined, commit, solar] = VERSION.exec(text) ?? [];
  const prerelease = dashed ?? joined;
  if (release === undefined) {
    throw new FullmatchError(
      'invalid_compiler_version',
      `${shown(text)} is not a compiler version; write it like 0.8.30 or 0.8.30+commit.73712a01, with or without v.`,
    );
  }
  return {
    release,
    ...(prerelease === undefined
      ? {}
      : { prerelease: prerelease.toLowerCase().replace(/^beta\.(?=\d)/, 'b') }),
    ...(commit === undefined ? {} : { commit: commit.toLowerCase() }),
    ...(solar === undefined ? {} : { solar: solar.toLowerCase() }),
  };
}

/** Combines the three numbers of a release into one number for ordering. */
function rankOf(release: string): number {
  const [major = 0, minor = 0, patch = 0] = release.split('.').map(Number);
  return (major * 10_000 + minor) * 10_000 + patch;
}

/** Compares releases: negative if the left version is older, positive if it is newer, 0 if they are equal. */
export function compareVersions(left: string, right: string): number {
  return rankOf(parseCompilerVersion(left).release) - rankOf(parseCompilerVersion(right).release);
}

/** Returns the few versions closest to a release, oldest first. */
export function nearestVersions(release: string, versions: readonly string[]): readonly string[] {
  const rank = rankOf(release);
  const distanceOf = (version: string): number =>
    Math.abs(rankOf(parseCompilerVersion(version).release) - rank);
  return [...versions]
    .sort((left, right) => distanceOf(left) - distanceOf(right))
    .slice(0, NEAREST_SHOWN)
    .sort(compareVersions);
}

/** Returns whether one commit is a prefix of the other. */
function isSameCommit(left: string, right: string): boolean {
  return left.startsWith(right) || right.startsWith(left);
}

function isSameVersion(requested: CompilerVersion, known: CompilerVersion): boolean {
  return (
    requested.release === known.release &&
    requested.prerelease === known.prerelease &&
    requested.solar === known.solar &&
    (requested.commit === undefined ||
      (known.commit !== undefined && isSameCommit(requested.commit, known.commit)))
  );
}

/**
 * Finds the long version (`0.8.30+commit.73712a01`) that a text refers to: the first match in `known`. A
 * prerelease such as a nightly is found only if `known` contains it. Returns undefined if nothing matches.
 * @throws FullmatchError invalid_compiler_version.
 */
export function findVersion(text: string, known: readonly string[]): string | undefined {
  const requested = parseCompilerVersion(text);
  return known.find((version) => isSameVersion(requested, parseCompilerVersion(version)));
}

/** Returns whether a text is a version with its commit. */
export function isLongVersion(text: string): boolean {
  return text.includes('+commit.') && VERSION.test(text);
}

/** Returns whether a text is a version of Solar; never throws. */
export function isSolarVersion(text: string): boolean {
  return VERSION.exec(text)?.[5] !== undefined;
}

/** Returns whether a version is recent enough and not rejected by the compiler's toolchain. */
export function isSupported(
  { oldestRelease, refusalOf }: Pick<Toolchain, 'oldestRelease' | 'refusalOf'>,
  longVersion: string,
): boolean {
  const isOld = compareVersions(longVersion, oldestRelease) < 0;
  return !isOld && refusalOf?.(longVersion) === undefined;
}

/** Builds the error for a text that matches no known version; it lists the nearest ones. */
export function unknownVersion(
  toolchain: Pick<Toolchain, 'label' | 'oldestRelease' | 'refusalOf' | 'downloadSetting'>,
  text: string,
  known: readonly string[],
): FullmatchError {
  const { label, oldestRelease, downloadSetting } = toolchain;
  const { release, prerelease, commit } = parseCompilerVersion(text);
  const usable = known.filter((version) => isSupported(toolchain, version));
  const sameRelease = usable.filter((version) => parseCompilerVersion(version).release === release);
  const nearest = sameRelease.length > 0 ? sameRelease : nearestVersions(release, usable);
  const details = { version: printableText(text, MAX_SHOWN_LENGTH), nearest };
  const hint = nearest.length === 0 ? '' : ` Nearest: ${nearest.join(', ')}.`;
  const refuse = (message: string): FullmatchError =>
    new FullmatchError('unsupported_compiler_version', `${message}${hint}`, { details });
  const refusal = toolchain.refusalOf?.(text);
  if (refusal !== undefined) return refuse(`${shown(text)} is not supported: ${refusal}`);
  if (compareVersions(release, oldestRelease) < 0) {
    return refuse(`${shown(text)} is too old: ${label} is supported from ${oldestRelease} on.`);
  }
  if (downloadSetting === undefined) {
    return refuse(`${label} ${shown(text)} is not installed here; the operator can install it.`);
  }
  if (prerelease !== undefined) {
    return refuse(
      `${shown(text)} is not a release; put its binary and a list.json that lists it into the compiler directory.`,
    );
  }
  if (commit !== undefined && sameRelease.length > 0) {
    return refuse(`${shown(text)} has a different commit than the release.`);
  }
  return refuse(`No ${label} release ${shown(text)} is known.`);
}
