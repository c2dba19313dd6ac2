import {
  type CompilerEntry,
  readMirror,
  verifyCompilers,
} from '../../compilers/inspect-compilers.ts';
import { compilerSourcesOf } from '../../core/open-verification.ts';
import { messageOf } from '../../errors.ts';
import { FetchFault } from '../../lib/fetch-fault.ts';
import { type DoctorDependencies } from './doctor-dependencies.ts';
import { type AreaReport } from './finding.ts';

/** Checks that the compilers on this machine equal the released ones; reads all files. */
export async function checkCompilers(
  report: AreaReport,
  { config, core }: DoctorDependencies,
): Promise<void> {
  const { fetch } = await core.chains();
  const entries = await verifyCompilers(compilerSourcesOf(config, fetch));
  const sound = entries.filter(({ problems }) => problems.length === 0);
  report.ok(
    `${sound.length} installed ${sound.length === 1 ? 'compiler has' : 'compilers have'} the released checksum`,
  );
  for (const entry of entries) reportProblems(report, entry, config.compilers.downloadUrl);
}

function reportProblems(
  report: AreaReport,
  { compiler, longVersion, problems }: CompilerEntry,
  downloadUrl: string,
): void {
  const [release = ''] = longVersion.split('+');
  const version = compiler === 'solc' ? release : `${compiler}:${release}`;
  const again =
    downloadUrl === 'off'
      ? 'remove the file, and fullmatch compilers prefetch with a bundle'
      : `remove the file, then fullmatch compilers fetch ${version}`;
  for (const { code, message } of problems) {
    if (code === 'checksum') report.fault('compiler_checksum_mismatch', message, again);
    else if (code === 'unusable') report.fault('compiler_unavailable', message, again);
    else report.warning('compiler_unavailable', message, again);
  }
}

/** Checks that missing compilers can be downloaded. */
export async function checkMirror(
  report: AreaReport,
  { config, core }: DoctorDependencies,
): Promise<void> {
  const { fetch } = await core.chains();
  const { downloadUrl } = config.compilers;
  try {
    const versions = await readMirror(compilerSourcesOf(config, fetch));
    if (versions === undefined) report.ok('downloads are off (compilers.downloadUrl: off)');
    else if (versions > 0) report.ok(`${downloadUrl} lists ${versions} versions`);
    else report.fault('compiler_unavailable', `${downloadUrl} lists no version.`, MIRROR);
  } catch (error) {
    if (!(error instanceof FetchFault)) {
      report.fault('compiler_unavailable', `${messageOf(error)}.`, MIRROR);
      return;
    }
    report.warning(
      'compiler_unavailable',
      `${downloadUrl} does not answer (${error.code}): missing compiler versions cannot be downloaded.`,
      'compilers.downloadUrl: a mirror that can be reached; or off, and the compilers of fullmatch compilers bundle from another machine',
    );
  }
}

const MIRROR = 'compilers.downloadUrl: the official host, or a mirror with /bin and /linux-amd64';
