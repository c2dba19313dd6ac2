import { type IncomingMessage, type ServerResponse } from 'node:http';

import { FullmatchError } from '../errors.ts';
import { chooseCoding, type ContentCoding, parseAcceptEncoding } from '../lib/content-coding.ts';
import { matchIfNoneMatch } from '../lib/entity-tag.ts';
import { memoize } from '../lib/memoize.ts';
import { secondOf, type Snapshot } from '../publication/snapshot.ts';
import {
  type Answer,
  BASE_HEADERS,
  CORS_HEADERS,
  JSON_TYPE,
  type ResponseHeaders,
} from './answer.ts';

/**
 * Both documents are read together and every key of stats.json has a record in /chains, so a cache must not
 * serve one stale and the other fresh. Caches revalidate on each use (a 304 costs no body). They may serve a
 * stale copy for a second while they revalidate, or for a day while the service cannot be reached.
 */
const CACHE_CONTROL = 'public, max-age=0, stale-while-revalidate=1, stale-if-error=86400';

/** A handful of distinct Accept-Encoding values make up nearly all traffic; each snapshot caches this many. */
const MAX_FIELDS = 64;
const MAX_FIELD_LENGTH = 256;

/** Request headers that determine the response to a document request. */
interface DocumentRequest {
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
}

/** Response headers in the two forms that can be written without further work: for the Node adapter, and for Node. */
interface PreparedHeaders {
  readonly record: ResponseHeaders;
  /** Alternating names and values. */
  readonly raw: readonly string[];
}

/** Response to a document request. */
interface DocumentAnswer {
  readonly status: 200 | 304;
  readonly headers: PreparedHeaders;
  readonly body: Buffer<ArrayBuffer> | null;
}

/**
 * Chooses the response to a GET or HEAD of a prepared document: the client's preferred coding, or 304 if it
 * already has the content (If-None-Match, else If-Modified-Since: RFC 9110, 13.2.2). Returns undefined if the
 * client accepts none of the available codings.
 */
export function chooseAnswer(
  snapshot: Snapshot,
  request: DocumentRequest,
): DocumentAnswer | undefined {
  const { found, notModified, codingFor } = answersOf(snapshot);
  const coding = codingFor(request.acceptEncoding);
  if (coding === undefined) return undefined;
  const held = findHeld(snapshot, coding, request);
  return held === undefined ? found[coding] : notModified[held];
}

/** Prepared responses of a snapshot: a 200 per coding, and a 304 per coding that the client has. */
interface SnapshotAnswers {
  readonly found: Readonly<Record<ContentCoding, DocumentAnswer>>;
  readonly notModified: Readonly<Record<ContentCoding, DocumentAnswer>>;
  /** Returns the coding for an Accept-Encoding value. */
  readonly codingFor: (field: string | undefined) => ContentCoding | undefined;
}

/** Built once per snapshot, not per request. */
const prepared = new WeakMap<Snapshot, SnapshotAnswers>();

function answersOf(snapshot: Snapshot): SnapshotAnswers {
  const known = prepared.get(snapshot);
  if (known !== undefined) return known;
  const choose = (field?: string): ContentCoding | undefined =>
    chooseCoding(parseAcceptEncoding(field), snapshot.lengths);
  const [unasked, asked] = [choose(), memoize(MAX_FIELDS, choose, MAX_FIELD_LENGTH)];
  const made: SnapshotAnswers = {
    found: eachCoding((coding) => ({
      status: 200,
      headers: prepareHeaders(foundHeaders(snapshot, coding)),
      body: snapshot.bodies[coding] ?? null,
    })),
    notModified: eachCoding((coding) => ({
      status: 304,
      headers: prepareHeaders(heldHeaders(snapshot, coding)),
      body: null,
    })),
    codingFor: (field) => (field === undefined ? unasked : asked(field)),
  };
  prepared.set(snapshot, made);
  return made;
}

function eachCoding(
  prepare: (coding: ContentCoding) => DocumentAnswer,
): Readonly<Record<ContentCoding, DocumentAnswer>> {
  return { identity: prepare('identity'), gzip: prepare('gzip'), br: prepare('br') };
}

function prepareHeaders(record: ResponseHeaders): PreparedHeaders {
  return { record, raw: Object.entries(record).flat() };
}

function foundHeaders(snapshot: Snapshot, coding: ContentCoding): ResponseHeaders {
  return {
    'content-type': JSON_TYPE,
    'content-length': String(snapshot.lengths[coding]),
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
    ...validatorsOf(snapshot, coding),
    ...BASE_HEADERS,
  };
}

function heldHeaders(snapshot: Snapshot, coding: ContentCoding): ResponseHeaders {
  return { ...validatorsOf(snapshot, coding), ...CORS_HEADERS };
}

function validatorsOf({ tags, lastModified }: Snapshot, coding: ContentCoding): ResponseHeaders {
  return {
    etag: tags[coding],
    'last-modified': lastModified.toUTCString(),
    'cache-control': CACHE_CONTROL,
    vary: 'Accept-Encoding',
  };
}

/**
 * Returns a prepared document as an app's response.
 * @throws FullmatchError `not_acceptable` if the client accepts none of the available codings
 */
export function respondWithSnapshot(snapshot: Snapshot, headers: Headers): Answer {
  const chosen = chooseAnswer(snapshot, {
    acceptEncoding: headers.get('accept-encoding') ?? undefined,
    ifNoneMatch: headers.get('if-none-match') ?? undefined,
    ifModifiedSince: headers.get('if-modified-since') ?? undefined,
  });
  if (chosen === undefined) {
    throw new FullmatchError(
      'not_acceptable',
      'Accept-Encoding refuses identity and every coding that this document has; allow gzip, br or identity.',
      { details: { codings: Object.keys(snapshot.lengths) } },
    );
  }
  // Does not count as a large body: it is held once, regardless of how many clients are receiving it.
  return new Response(chosen.body, {
    status: chosen.status,
    headers: chosen.headers.record,
  }) as Answer;
}

/**
 * Writes a prepared document directly to Node's response, before routing and without a Request object.
 *
 * This is the hot path. Through the router and the Node adapter the same response costs 4 µs more, which is a quarter
 * of a 304 and a tenth of stats.json; here it stays within a few percent of a bare node:http handler (bench/http.ts).
 * Returns false, and writes nothing, if the response is an error.
 */
export function writeSnapshot(
  snapshot: Snapshot,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { headers } = request;
  const chosen = chooseAnswer(snapshot, {
    acceptEncoding: headers['accept-encoding'],
    ifNoneMatch: headers['if-none-match'],
    ifModifiedSince: headers['if-modified-since'],
  });
  if (chosen === undefined) return false;
  response.writeHead(chosen.status, chosen.headers.raw as string[]);
  if (request.method === 'HEAD') response.end();
  else response.end(chosen.body);
  return true;
}

function findHeld(
  snapshot: Snapshot,
  selected: ContentCoding,
  request: DocumentRequest,
): ContentCoding | undefined {
  if (request.ifNoneMatch !== undefined) {
    return matchIfNoneMatch(request.ifNoneMatch, snapshot.tags, selected);
  }
  const since = parseHttpDate(request.ifModifiedSince);
  if (since === undefined) return undefined;
  const modified = secondOf(snapshot.lastModified);
  const unchanged = since > modified || (since === modified && !snapshot.sharesSecond);
  return unchanged ? selected : undefined;
}

// The preferred format and the one of RFC 850; anything else is ignored (RFC 9110, 13.1.3). The third format,
// asctime, has no time zone and has not been sent for decades: a client that sends it gets a full response.
const HTTP_DATE = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

function parseHttpDate(field: string | undefined): number | undefined {
  if (field === undefined || !HTTP_DATE.test(field)) return undefined;
  const time = Date.parse(field);
  return Number.isNaN(time) ? undefined : secondOf(new Date(time));
}
