/** Error codes of the operating system for a temporary lack of resources: space, descriptors, memory, processes. */
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

/** Returns whether an error, or one of its causes, means that the machine temporarily lacks resources. */
export function isResourceShortage(error: unknown): boolean {
  return hasCode(error, TROUBLE_CODES);
}

/** Returns whether an error, or one of its causes, means that a disk is full. */
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
