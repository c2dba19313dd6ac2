import { FullmatchError } from '../errors.ts';

/** Error for something that cannot be imported: a path, a file in it, or a URL. */
export function unusableSource(path: string, why: string, cause?: unknown): FullmatchError {
  return new FullmatchError('import_path_unusable', `cannot import ${path}: ${why}`, {
    details: { path },
    ...(cause !== undefined && { cause }),
  });
}
