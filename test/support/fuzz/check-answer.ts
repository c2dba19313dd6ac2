import path from 'node:path';
import { tmpdir } from 'node:os';
import { ERROR_CODES } from '../../../src/errors.ts';
import { type FuzzAnswer } from './answer-reader.ts';
import { type FuzzRequest } from './request-grammar.ts';

const PROJECT = path.resolve(import.meta.dirname, '../../..');
/** Folders, SQL statements and stack frames: internals that clients must not see. */
const LEAKS =
  /\/(?:work|tmp|home|root|usr|var\/lib|opt)\/[\w.-]+|node_modules|node:internal|\bat (?:async |new )?[\w.$<>]+ \(|\.[cm]?[jt]s:\d+|\bSELECT\b.*\bFROM\b|\bINSERT INTO\b|SQLSTATE|syntax for type|ECONN\w+|ENOENT|EACCES/;
const V1_PATH =
  /^\/(?:check-all-by-addresses|check-by-addresses|checkAllByAddresses|checkByAddresses|files|verify)(?:[/?]|$)/;
const SIGNATURE_PATH = /^\/signature-database\/v1\/(?:lookup|search|import|stats)\/?$/;
/** Blockscout's API and verifier. */
const BLOCKSCOUT_PATH =
  /^(?:\/evm\/[^/]+\/blockscout\/api\/v2|(?:\/blockscout)?\/api\/v2\/verifier)(?:\/|$)/;
/** Errors that the listener returns before it has read the path. */
const OF_THE_LISTENER = new Set([400, 408, 413, 417, 431]);
const CODES: ReadonlyMap<string, { readonly status: number }> = new Map(
  Object.entries(ERROR_CODES),
);

type Members = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function isProblem(body: Members, status: number): boolean {
  const { type, title, code, detail } = body;
  return (
    isText(code) &&
    CODES.has(code) &&
    type === `urn:fullmatch:error:${code}` &&
    isText(title) &&
    isText(detail) &&
    body['status'] === status
  );
}

const isV2Error = ({ customCode, message, errorId }: Members): boolean =>
  isText(customCode) && isText(message) && isText(errorId);

const isSignatureError = ({ ok, error, code }: Members): boolean =>
  ok === false && isText(error) && isText(code) && CODES.has(code);

const isBlockscoutError = ({ message }: Members): boolean => isText(message);

const isV1Error = ({ error }: Members): boolean => isText(error);

function hasAnyShape(status: number, body: Members): boolean {
  // API v1 has its own response for unverified contracts.
  const isNotVerified =
    status === 404 && (Array.isArray(body['results']) || body['match'] === null);
  return [
    isNotVerified,
    isProblem(body, status),
    isV2Error(body),
    isV1Error(body),
    isBlockscoutError(body),
  ].some(Boolean);
}

function hasDocumentedShape(
  { target, host, method, framed }: FuzzRequest,
  status: number,
  body: Members,
): boolean {
  if (!hasAnyShape(status, body)) return false;
  if (OF_THE_LISTENER.has(status) && isProblem(body, status)) return true;
  const plain = target.replace(/^\/server(?=\/|\?|$)/, '').replace(/\?.*$/s, '');
  // A path that is encoded or contains `..` may be interpreted as one of another interface.
  if (!framed || host !== 'api' || /%|\.\.|\/\//.test(plain)) return true;
  if (BLOCKSCOUT_PATH.test(plain)) return isBlockscoutError(body) || isProblem(body, status);
  if (/^\/v2(?:\/|$)/.test(plain)) return !isProblem(body, status);
  // An unknown job has the error of the API v2; the page's own faults are problems.
  if (/^\/job\/[^/]+\/?$/.test(plain)) return isV2Error(body) || isProblem(body, status);
  const isV1 = V1_PATH.test(plain) || (method === 'POST' && /^\/?$/.test(plain));
  if (SIGNATURE_PATH.test(plain)) return isSignatureError(body);
  return isV1 ? isV1Error(body) : isProblem(body, status);
}

function leakIn(request: FuzzRequest, text: string): string | undefined {
  const leak =
    LEAKS.exec(text)?.[0] ?? [PROJECT, tmpdir() + path.sep].find((each) => text.includes(each));
  // The client's own input may be echoed.
  if (leak === undefined || request.bytes.toString('latin1').includes(leak)) return undefined;
  return leak;
}

/** Returns what is wrong with a response, or undefined. */
export function faultOf(
  request: FuzzRequest,
  { status, headers, body }: FuzzAnswer,
): string | undefined {
  if (status < 400) return undefined;
  if (status >= 500 && status !== 503) return `answered ${status}`;
  if (body.length === 0) {
    return request.method === 'HEAD' || !request.framed ? undefined : `${status} without a body`;
  }
  const text = body.toString('utf8');
  const leak = headers.has('content-encoding') ? undefined : leakIn(request, text);
  if (leak !== undefined) return `${status} shows ${leak}`;
  const type = headers.get('content-type') ?? '';
  // An HTML page reports errors as a page.
  if (type.startsWith('text/html')) return status === 503 ? '503 as a page' : undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `${status} with a body that is not JSON: ${text.slice(0, 100)}`;
  }
  if (typeof value !== 'object' || value === null) return `${status} with a body of no shape`;
  const members = value as Members;
  const shaped = hasDocumentedShape(request, status, members);
  if (!shaped) return `${status} with a body of another shape: ${text.slice(0, 200)}`;
  if (status === 503) {
    const code = members['code'] ?? members['customCode'];
    const known = typeof code === 'string' && CODES.get(code)?.status === 503;
    if (!known && !isV1Error(members) && !isBlockscoutError(members))
      return '503 without a documented code';
  }
  return undefined;
}
