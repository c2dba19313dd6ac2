import { FullmatchError } from '../../errors.ts';
import { requireSourceLimit, type RequestLimits } from './request-limits.ts';

/** Most fields of a form, apart from its files. */
const FIELDS_MAX = 16;
/** A form without files only names a contract. */
const PLAIN_FORM_BYTES = 4_096;
/** Longest boundary (RFC 2046, section 5.1.1). Searching for a longer one takes more time. */
const BOUNDARY_CHARACTERS = 70;
/**
 * Limits on the header fields of a part; a part with a name and a type has at most three. Parsing time grows
 * with their number.
 */
const PART_HEADER_BYTES = 4_096;
const PART_HEADER_LINES = 16;
const LINE_END = '\r\n';
const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i;

function unreadable(cause?: unknown): FullmatchError {
  const message = 'The body is not a form of the type that its Content-Type names.';
  return new FullmatchError('malformed_request', message, { cause });
}

/** Counts the occurrences of a text in bytes, up to `most`. */
function countText(bytes: Buffer, text: string, most: number): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1 && count < most; at = bytes.indexOf(text, at + 1)) {
    count += 1;
  }
  return count;
}

/** Returns whether every part has few and short header fields. Data after the last part is not a part. */
function hasSmallHeaders(bytes: Buffer, separator: string): boolean {
  const delimiter = `${LINE_END}${separator}`;
  let at = bytes.indexOf(separator);
  while (at !== -1) {
    const begin = at + separator.length;
    const head = bytes.subarray(begin, begin + PART_HEADER_BYTES);
    const end = head.indexOf(LINE_END.repeat(2));
    if (end === -1) return head.subarray(0, 2).toString('latin1') === '--';
    const fields = head.subarray(0, end);
    if (countText(fields, LINE_END, PART_HEADER_LINES + 1) > PART_HEADER_LINES) return false;
    const next = bytes.indexOf(delimiter, begin);
    at = next === -1 ? -1 : next + LINE_END.length;
  }
  return true;
}

/**
 * Parses a form body. Counts its parts and their header fields in the raw bytes first.
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
  requireSourceLimit(countText(bytes, separator, most + 1) > most ? most : 0, limits);
  if (!(isMultipart ? hasSmallHeaders(bytes, separator) : bytes.length <= PLAIN_FORM_BYTES)) {
    throw unreadable();
  }
  try {
    // `formData` is deprecated for its cost on servers; on a separate thread and with the parts counted, the
    // cost is bounded.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    return await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch (error) {
    throw unreadable(error);
  }
}
