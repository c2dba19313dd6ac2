import { FullmatchError } from '../../errors.ts';
import { requireFewSources, type RequestLimits } from './request-limits.ts';

/** Fields of a form beside its files. */
const FIELDS_MAX = 16;
/** A form without files names a contract and no more. */
const PLAIN_FORM_BYTES = 4_096;
/** RFC 2046, section 5.1.1. Searching for a long one takes time with its length. */
const BOUNDARY_CHARACTERS = 70;
/** Header fields of a part, which has three or fewer with a name and a type. Parsing takes time by the field. */
const PART_HEADER_BYTES = 4_096;
const PART_HEADER_LINES = 16;
const LINE_END = '\r\n';
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

/** Whether every part has few and short header fields. What stands behind the last part is none. */
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
 * The form of a body. Its parts and their header fields are counted in the bytes before it is parsed.
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
  if (!(isMultipart ? hasSmallHeaders(bytes, separator) : bytes.length <= PLAIN_FORM_BYTES)) {
    throw unreadable();
  }
  try {
    // On a thread of its own, after the parts are counted, the cost that it is deprecated for is bounded.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    return await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch (error) {
    throw unreadable(error);
  }
}
