import { availableParallelism, totalmem } from 'node:os';
import { probeIsolation, reportIsolation } from '../../compilers/processes/isolation.ts';
import { type Config } from '../../config/config.ts';
import { descriptorLimit } from '../../lib/descriptor-limit.ts';
import { readPackageVersion } from '../../lib/package-version.ts';
import { type AreaReport } from './finding.ts';
import { showBytes } from './show-bytes.ts';

/** Memory of the service without its compilers. */
const OWN_MEMORY_BYTES = 2 ** 29;
/** Twice the service's maximum number of connections, see docs/operating.md. */
const DESCRIPTORS = 20_000;

/** Checks versions and system limits. The configuration is absent if it cannot be read. */
export async function checkMachine(report: AreaReport, config: Config | undefined): Promise<void> {
  const platform = `${process.platform}-${process.arch}`;
  report.ok(
    `Fullmatch ${readPackageVersion()}, Node.js ${process.versions.node}, ${platform}, ${availableParallelism()} processors`,
  );
  if (config !== undefined) checkMemory(report, config);
  const limit = descriptorLimit();
  if (limit < DESCRIPTORS) {
    report.warning(
      'descriptor_limit_low',
      `A process may open ${limit} files, so that ${Math.floor(limit / 2)} connections fit, not 10,000.`,
      `LimitNOFILE=${DESCRIPTORS} under systemd, --ulimit nofile=${DESCRIPTORS} for a container`,
    );
  } else report.ok(`${limit} files may be open`);
  await checkIsolation(report);
}

function checkMemory(report: AreaReport, { compilers, verification }: Config): void {
  // Memory limit of a container; without one, 0 or more than the machine has.
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const wanted = verification.workers * compilers.memoryBytes + OWN_MEMORY_BYTES;
  const has = `${showBytes(total)} of memory`;
  if (total >= wanted) {
    report.ok(has);
    return;
  }
  report.warning(
    'memory_low',
    `${has}, and ${verification.workers} verifications at once may take ${showBytes(wanted)}: the system may end the process.`,
    'verification.workers or compilers.memoryBytes: set them lower',
  );
}

async function checkIsolation(report: AreaReport): Promise<void> {
  const { unprivilegedUser, ownFilesOnly, withoutNetwork } = reportIsolation(
    await probeIsolation(),
  );
  const lacks = [
    unprivilegedUser ? [] : ['as an unprivileged user'],
    ownFilesOnly ? [] : ['with no files but their own'],
    withoutNetwork ? [] : ['without network'],
  ].flat();
  if (lacks.length === 0) {
    report.ok('native compilers are isolated');
    return;
  }
  report.warning(
    'compiler_isolation',
    `This system does not let native compilers run ${lacks.join(', ')}.`,
    'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), see "Native compilers" in docs/operating.md',
  );
}
