import { FullmatchError, messageOf } from '../../errors.ts';

const LOG_LINES_SHOWN = 8;
const NO_SPACE = /No space left on device|Disk quota exceeded/;
const NO_PERMISSION = /Permission denied|Read-only file system|invalid permissions|wrong ownership/;

/** System error code, such as `ENOENT`, of anything thrown. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/** Maps a failed file operation in the data directory to an error that tells the operator what to do. */
export function folderFailure(error: unknown, folder: string): unknown {
  if (error instanceof FullmatchError) return error;
  const options = { cause: error, details: { path: folder } };
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return noSpace(folder, options);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return unusable(folder, 'this user may not write there', options);
    case 'ENOTDIR':
    case 'EEXIST':
      return unusable(folder, 'it, or a parent folder, is a file', options);
    case 'EBUSY':
    case 'EXDEV':
      return unusable(
        folder,
        'it is a mount point; mount the volume on its parent folder instead',
        options,
      );
    case undefined:
      return error;
    default:
      return unusable(folder, messageOf(error), options);
  }
}

/** `data_directory_unusable` with its reason and what to do. */
export function unusable(
  folder: string,
  reason: string,
  options: { cause?: unknown; details?: Record<string, unknown> } = {},
): FullmatchError {
  return new FullmatchError(
    'data_directory_unusable',
    `The folder ${folder} cannot be used for PostgreSQL's data: ${reason}. ` +
      'Set FULLMATCH_DATA_DIR to another folder, or DATABASE_URL to a PostgreSQL server.',
    { ...options, details: { path: folder, ...options.details } },
  );
}

/** Maps the output of a failed initdb or postgres to an error that includes its last lines. */
export function programFailure(program: string, folder: string, output: string): FullmatchError {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-LOG_LINES_SHOWN);
  const options = { details: { path: folder, program, output: lines } };
  const printed = lines.length === 0 ? 'it printed nothing' : `it printed: ${lines.join(' | ')}`;
  if (NO_SPACE.test(output)) return noSpace(folder, options);
  if (NO_PERMISSION.test(output)) return unusable(folder, `${program} failed, ${printed}`, options);
  return new FullmatchError(
    'embedded_server_unavailable',
    `${program} failed on ${folder}; ${printed}. Set DATABASE_URL to use another PostgreSQL server.`,
    options,
  );
}

function noSpace(
  folder: string,
  options: { cause?: unknown; details?: Record<string, unknown> },
): FullmatchError {
  return new FullmatchError(
    'data_directory_full',
    `There is no space left for PostgreSQL's data in ${folder}. Free some space, or set FULLMATCH_DATA_DIR to another folder.`,
    options,
  );
}
