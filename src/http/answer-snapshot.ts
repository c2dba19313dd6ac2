import { FullmatchError } from '../errors.ts';
import { makeAnswer, type Answer } from './answer.ts';
import { chooseCoding, type ContentCoding, parseAcceptEncoding } from './content-coding.ts';
import { findMatchingTag } from './entity-tag.ts';
import { secondOf, type Snapshot } from './snapshot.ts';

/** The request headers that decide how a document is answered. */
export interface ConditionalHeaders {
  get(name: 'accept-encoding' | 'if-none-match' | 'if-modified-since'): string | null;
}

/**
 * Answers a GET or HEAD of a prepared document: the coding that the client likes best, or 304 where it holds the
 * content already (If-None-Match, else If-Modified-Since: RFC 9110, 13.2.2).
 *
 * This is the hot path: it is synchronous, copies no body and makes no headers, so that the Node adapter writes the
 * prepared buffer and header object as they are. It measures within a few percent of a bare node:http handler
 * (bench/http.ts); a middleware in front of it, an async handler or a `Headers` object each cost more than the rest
 * of the request.
 * @throws FullmatchError `not_acceptable` when the client refuses every coding at hand
 */
export function answerSnapshot(snapshot: Snapshot, request: ConditionalHeaders): Answer {
  const weights = parseAcceptEncoding(request.get('accept-encoding') ?? undefined);
  const coding = chooseCoding(weights, snapshot.lengths);
  const chosen = coding === undefined ? undefined : snapshot[coding];
  if (chosen === undefined) {
    throw new FullmatchError(
      'not_acceptable',
      'Accept-Encoding refuses identity and every coding that this document has; allow gzip, br or identity.',
      { details: { codings: Object.keys(snapshot.lengths) } },
    );
  }
  const heldTag = findHeldTag(snapshot, chosen.coding, request);
  if (heldTag !== undefined) {
    return makeAnswer(null, {
      status: 304,
      headers: { etag: heldTag, ...chosen.notModifiedHeaders },
    });
  }
  return makeAnswer(chosen.body, { status: 200, headers: chosen.headers });
}

function findHeldTag(
  snapshot: Snapshot,
  coding: ContentCoding,
  request: ConditionalHeaders,
): string | undefined {
  const ifNoneMatch = request.get('if-none-match');
  if (ifNoneMatch !== null) return findMatchingTag(ifNoneMatch, snapshot.tag, coding);
  const since = parseHttpDate(request.get('if-modified-since'));
  if (since === undefined) return undefined;
  const modified = secondOf(snapshot.lastModified);
  const unchanged = since > modified || (since === modified && !snapshot.sharesSecond);
  return unchanged ? snapshot[coding]?.etag : undefined;
}

// The preferred form and the one of RFC 850; what is no HTTP date is ignored (RFC 9110, 13.1.3). The third form,
// of asctime, names no zone and has not been sent for decades: it costs its sender a full answer.
const HTTP_DATE = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

function parseHttpDate(field: string | null): number | undefined {
  if (field === null || !HTTP_DATE.test(field)) return undefined;
  const time = Date.parse(field);
  return Number.isNaN(time) ? undefined : secondOf(new Date(time));
}
