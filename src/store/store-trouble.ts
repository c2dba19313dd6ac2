import { type ErrorCode, FullmatchError } from '../errors.ts';

const PASSING_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'database_unreachable',
  'database_unavailable',
  'database_damaged',
  'data_directory_full',
  'storage_full',
] as const);

/** Whether the store failed for a reason unrelated to the work: the same may succeed later. */
export function isStoreTrouble(error: unknown): boolean {
  return error instanceof FullmatchError && PASSING_ERRORS.has(error.code);
}
