import { printableText } from '../lib/printable-text.ts';

/**
 * Reasons for refusing an entry of a repository tree. The names are stable, so scripts may rely on them. The
 * text describes the reason; the entry's own detail names the file.
 */
export const REFUSAL_REASONS = {
  invalid_chain_id: 'the folder name is not a canonical decimal chain id from 1 to 2^53-1',
  invalid_address: 'the folder name is not an address: 0x and 40 hex digits',
  wrong_checksum: 'the mixed case of the address is not its EIP-55 checksum',
  address_spelled_twice: 'the same address exists in another spelling, which is imported instead',
  not_a_folder: 'a folder is expected here',
  symlink: 'symbolic links are not followed',
  special_file: 'neither a regular file nor a folder',
  path_outside_tree: 'a path leads out of the folder of sources',
  unreadable: 'it cannot be read',
  file_too_large: 'a file, or all files together, exceed the size limit',
  too_many_files: 'more files, sources or deeper folders than the limit',
  missing_metadata: 'there is no metadata.json, and no compilation.json in its place',
  broken_metadata: 'metadata.json is not what a compiler writes',
  unsupported_language: 'the language of metadata.json is not Solidity, Yul or Vyper',
  invalid_utf8: 'a text is not valid UTF-8',
  nul_character: 'a text contains the character U+0000, which cannot be stored',
  missing_source: 'a source that the metadata lists is not in the folder',
  wrong_source_hash: 'the keccak256 of a source is not the one in the metadata',
  no_runtime_match: 'the runtime code does not match',
  codes_differ: 'the transformations do not turn the recompiled code into the code on chain',
  broken_row: 'a row has a value that its table does not allow',
  wrong_metadata_hash: 'a full match whose code does not contain the hash of the metadata',
  withdrawn_there: 'the source has withdrawn it; a copy that was imported earlier would stay',
  not_storable: 'the database rejects the contract',
} as const satisfies Record<string, string>;

/** A stable reason from {@link REFUSAL_REASONS}. */
export type RefusalReason = keyof typeof REFUSAL_REASONS;

/** An entry of the tree that was not imported. All text is printable: text from the tree is escaped. */
export interface RefusedEntry {
  /** Relative to the folder that contains `full_match` and `partial_match`. */
  readonly path: string;
  readonly reason: RefusalReason;
  /** The exact fault, as a sentence. */
  readonly detail: string;
  /** Absent if the chain folder itself is refused. */
  readonly chainId?: number;
}

/** Thrown when an entry is refused; caught for each entry, so the run continues. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: RefusalReason;

  /** `subject` is the file or name at fault, as in the tree; `more` describes the fault. */
  constructor(reason: RefusalReason, subject: string, more?: string) {
    const fault = more ?? REFUSAL_REASONS[reason];
    super(`${printableText(subject)}: ${fault}`);
    this.reason = reason;
  }
}

/**
 * Parses JSON of a row. A database returns only valid JSON; an export may contain any text.
 * @throws Refusal `broken_row`
 */
export function parseRowJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('broken_row', 'JSON', 'it is not JSON');
  }
}

const LINK_CODES = new Set(['ELOOP', 'EMLINK']);

/**
 * Maps a file system error to a refusal: a symbolic link (O_NOFOLLOW), a socket, a missing permission, a
 * broken disk, a file that disappeared. Other errors are returned unchanged.
 */
export function toRefusal(error: unknown, subject: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  const code = String(error.code);
  // Too many open files is a fault of this process, not of the entry.
  if (code === 'EMFILE' || code === 'ENFILE') return error;
  if (LINK_CODES.has(code)) return new Refusal('symlink', subject);
  if (code === 'ENXIO' || code === 'ENODEV') return new Refusal('special_file', subject);
  if (code === 'ENOTDIR') return new Refusal('not_a_folder', subject);
  return new Refusal('unreadable', subject, `${REFUSAL_REASONS.unreadable} (${code})`);
}
