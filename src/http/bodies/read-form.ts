import { FullmatchError } from '../../errors.ts';
import { requireFewSources, type RequestLimits } from './request-limits.ts';

/** Fields of a form beside its files. */
const FIELDS_MAX = 16;
/** RFC 2046, section 5.1.1. Searching for a long one takes time with its length. */
const BOUNDARY_CHARACTERS = 70;
const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i;

function unreadable(cause?: unknown): FullmatchError {
  const message = 'The body is not a form of the type that its Content-Type names.';
  return new FullmatchError('malformed_request', message, { cause });
}

/** How often a text stands in bytes; counting ends at `most`. */
function countText(bytes: Buffer, text: string, most: number): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1 && count < most; at = bytes.indexOf(text, at + 1)) {
    count += 1;
  }
  return count;
}

/**
 * The form of a body. Its parts are counted in the bytes before it is parsed.
 * @throws FullmatchError malformed_request, request_too_many_sources
 */
export async function readForm(
  bytes: Buffer<ArrayBuffer>,
  contentType: string,
  limits: RequestLimits,
): Promise<FormData> {
  const boundary = BOUNDARY.exec(contentType);
  const isMultipart = /^multipart\//i.test(contentType);
  const named = boundary?.[1] ?? boundary?.[2] ?? '';
  if (isMultipart && (named === '' || named.length > BOUNDARY_CHARACTERS)) throw unreadable();
  const separator = isMultipart ? `--${named}` : '&';
  const most = limits.sources + FIELDS_MAX;
  requireFewSources(countText(bytes, separator, most + 1) > most ? most : 0, limits);
  try {
    // On a thread of its own, after the parts are counted, the cost that it is deprecated for is bounded.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    return await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch (error) {
    throw unreadable(error);
  }
}
