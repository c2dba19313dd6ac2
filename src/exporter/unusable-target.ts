import { FullmatchError } from '../errors.ts';

/** Error for a file or folder that cannot be exported to. */
export function unusableTarget(path: string, why: string, cause?: unknown): FullmatchError {
  return new FullmatchError('export_path_unusable', `cannot export to ${path}: ${why}`, {
    details: { path },
    ...(cause !== undefined && { cause }),
  });
}
