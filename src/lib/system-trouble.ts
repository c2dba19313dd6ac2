/** Codes of the operating system that say that it lacks something now: space, descriptors, memory, processes. */
const TROUBLE_CODES: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
  'EIO',
  'EROFS',
]);
const SPACE_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
const DEEPEST_CAUSE = 8;

/** Whether an error, or what caused it, says that the machine lacks something now. */
export function isSystemTrouble(error: unknown): boolean {
  return hasCode(error, TROUBLE_CODES);
}

/** Whether an error, or what caused it, says that a disk is full. */
export function isOutOfSpace(error: unknown): boolean {
  return hasCode(error, SPACE_CODES);
}

function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  let each = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && each instanceof Error; depth += 1) {
    if ('code' in each && codes.has(each.code)) return true;
    each = each.cause;
  }
  return false;
}
