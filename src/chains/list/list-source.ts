import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { FullmatchError, asFullmatchError } from '../../errors.ts';
import { type FetchHead, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { describeSourceFault, isUrlSource } from './source-name.ts';
import { type SourceState } from './sync-state.ts';

/** Response of a source: a list with its HTTP validators, or that the list has not changed. */
export type SourceResponse =
  | { readonly kind: 'text'; readonly text: string; readonly validators: Validators }
  | { readonly kind: 'unchanged' };

type Validators = Omit<SourceState, 'sha256'>;

/** Size and time limits of one source. */
export interface SourceLimits {
  readonly maxBytes: number;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

const NON_BLOCKING_READ = constants.O_RDONLY | constants.O_NONBLOCK;
const OPAQUE_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/;
const MAX_DATE_CHARACTERS = 40;

/**
 * Fetches the list of a source; for a URL conditionally on `known` (RFC 9110 §13.1).
 * @throws FullmatchError chain_list_unavailable, invalid_chain_list if it is not UTF-8, those of the guarded
 * fetch; or the reason of the signal
 */
export async function readSource(
  source: string,
  known: SourceState | undefined,
  fetch: GuardedFetch,
  limits: SourceLimits,
): Promise<SourceResponse> {
  if (!isUrlSource(source)) {
    const bytes = await readBoundedFile(source, limits.maxBytes);
    return { kind: 'text', text: decode(bytes, source), validators: {} };
  }
  const conditions = {
    ...(known?.etag !== undefined && { 'if-none-match': known.etag }),
    ...(known?.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
  };
  const answer = await fetch
    .fetch(source, { ...limits, headers: { accept: 'application/json', ...conditions } })
    .catch((error: unknown) => {
      throw asFullmatchError(error);
    });
  const { status, body } = answer;
  if (status === 304 && Object.keys(conditions).length > 0) return { kind: 'unchanged' };
  if (status !== 200) throw unavailable(source, `answers with the status ${status}`);
  return { kind: 'text', text: decode(body, source), validators: validatorsOf(answer) };
}

function unavailable(source: string, fault: string, cause?: unknown): FullmatchError {
  return new FullmatchError('chain_list_unavailable', ...describeSourceFault(source, fault, cause));
}

/** JSON is UTF-8 (RFC 8259 §8.1) regardless of headers; replacement characters would silently change names. */
function decode(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new FullmatchError(
      'invalid_chain_list',
      ...describeSourceFault(source, 'is not UTF-8', error),
    );
  }
}

/** Validators that HTTP does not allow are not sent back. */
function validatorsOf({ headers }: FetchHead): Validators {
  const { etag, 'last-modified': lastModified } = headers;
  const isDate =
    lastModified !== undefined &&
    lastModified.length <= MAX_DATE_CHARACTERS &&
    !Number.isNaN(Date.parse(lastModified));
  return {
    ...(etag !== undefined && OPAQUE_TAG.test(etag) && { etag }),
    ...(isDate && { lastModified }),
  };
}

/** Reads a regular file up to the limit. */
async function readBoundedFile(file: string, maxBytes: number): Promise<Uint8Array> {
  try {
    // Without this flag, opening a named pipe would wait for a writer.
    const handle = await open(file, NON_BLOCKING_READ);
    try {
      if (!(await handle.stat()).isFile()) throw new Error('it is not a file');
      const buffer = Buffer.alloc(maxBytes + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (bytesRead === 0) return buffer.subarray(0, length);
        if (length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unavailable(file, 'cannot be read', error);
  }
}
