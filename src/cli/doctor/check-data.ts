import { stat, statfs } from 'node:fs/promises';
import { type Config } from '../../config/config.ts';
import { messageOf } from '../../errors.ts';
import { nearestExisting, requireWritable } from '../../lib/writable-folder.ts';
import { type DoctorDependencies } from './doctor-dependencies.ts';
import { type AreaReport } from './finding.ts';
import { showBytes } from './show-bytes.ts';

/** Connections for other processes and for an operator's session. */
const SPARE_CONNECTIONS = 3;

/** Checks that the data directory and the compiler folder are usable. */
export async function checkDataDirectory(
  report: AreaReport,
  { config: { dataDir, compilers, database } }: DoctorDependencies,
): Promise<void> {
  for (const [folder, key, use] of [
    [dataDir, 'FULLMATCH_DATA_DIR', database.url === undefined ? 'the database' : 'large bodies'],
    [compilers.folder, 'compilers.folder', 'compilers'],
  ] as const) {
    try {
      await requireWritable(folder);
      const existing = await nearestExisting(folder);
      const exists = existing === folder;
      // File systems such as /proc permit writing but reject every name.
      if (!exists && (await statfs(existing)).blocks === 0) {
        throw new Error(`the file system of ${existing} stores no files`);
      }
      report.ok(
        `${folder}, for ${use}, ${exists ? 'can be written' : 'is made when it is needed'}`,
      );
    } catch (error) {
      report.fault(
        'data_directory_unusable',
        `${folder}, for ${use}, is not usable by this user: ${messageOf(error)}.`,
        `choose another folder (${key}), or make the service's user its owner (chown)`,
      );
    }
  }
}

/** Checks that the disks have enough space for the configured limits. */
export async function checkDisk(report: AreaReport, { config }: DoctorDependencies): Promise<void> {
  const folders = await Promise.all([config.dataDir, config.compilers.folder].map(nearestExisting));
  const devices = await Promise.all(folders.map(async (folder) => (await stat(folder)).dev));
  const [dataDir = '', compilers = ''] = folders;
  const shared = devices[0] === devices[1];
  const downloads = growthOfDownloads(config);
  const floor = config.database.url === undefined ? config.database.minFreeBytes : 0;
  await checkSpace(report, dataDir, floor, shared ? downloads : 0);
  if (!shared) await checkSpace(report, compilers, 0, downloads);
}

function growthOfDownloads({ compilers }: Config): number {
  return compilers.downloadUrl === 'off' ? 0 : compilers.downloadBytes;
}

async function checkSpace(
  report: AreaReport,
  folder: string,
  floor: number,
  growth: number,
): Promise<void> {
  const { blocks, bavail, bsize, files, ffree } = await statfs(folder);
  // Some file systems report no size: those without a disk, such as /proc, and some network file systems.
  if (blocks === 0) {
    report.unknown(`The file system of ${folder} does not say how much space it has.`);
    return;
  }
  const free = bavail * bsize;
  const has = `${showBytes(free)} are free on the disk of ${folder}`;
  // File systems without an inode table report 0 of 0.
  if (files > 0 && ffree === 0) {
    report.fault('disk_full', `The disk of ${folder} has no free inodes.`, 'remove files there');
  } else if (free < floor) {
    report.fault(
      'disk_full',
      `${has}, and ${showBytes(floor)} must stay free: submissions and imports are refused.`,
      'free some space, or lower database.minFreeBytes',
    );
  } else if (free < floor + growth) {
    report.warning(
      'disk_tight',
      `${has}; the database and up to ${showBytes(growth)} of downloaded compilers must fit there.`,
      'free some space, or lower compilers.downloadBytes',
    );
  } else report.ok(has);
}

/** Checks that the database responds and meets the service's requirements. */
export async function checkDatabase(
  report: AreaReport,
  { store, config: { database } }: DoctorDependencies,
): Promise<void> {
  const found = await store();
  if (found === undefined) {
    report.unknown('The embedded PostgreSQL is not running; it starts with the service.');
    return;
  }
  const { embedded, version, readOnly, mayCreate, connections } = found;
  report.ok(`${embedded ? 'the embedded PostgreSQL' : 'PostgreSQL'} ${version} answers`);
  if (readOnly) {
    report.fault(
      'database_unavailable',
      'The database is read-only: it is a standby, or configured so.',
      'database.url: use the primary, or ALTER ROLE … SET default_transaction_read_only = off',
    );
  } else if (!mayCreate && found.migrations.pending.length > 0) {
    report.fault(
      'database_error',
      'The database user cannot create tables, which migrations need.',
      'GRANT CREATE ON SCHEMA public TO the user of database.url',
    );
  }
  if (database.poolSize + SPARE_CONNECTIONS > connections) {
    report.warning(
      'pool_too_large',
      `The server takes ${connections} connections, but this process alone may open ${database.poolSize}.`,
      'lower database.poolSize, or raise max_connections of the server',
    );
  }
}

/** Checks that the schema is that of this version. */
export async function checkMigrations(
  report: AreaReport,
  { store }: DoctorDependencies,
): Promise<void> {
  const found = await store().catch(() => undefined);
  if (found === undefined) {
    report.unknown('The schema can only be checked while the database runs.');
    return;
  }
  const { applied, pending } = found.migrations;
  if (pending.length === 0) report.ok(`the schema is at ${applied}, the newest of this version`);
  else if (applied === 0) report.ok('the database is empty: the next start creates its tables');
  else {
    report.warning(
      'migrations_pending',
      `The schema is at ${applied}, and the next start will apply ${pending.join(', ')}. Back up first.`,
      'stop every process of the service, then fullmatch start (UPGRADE.md)',
    );
  }
}
