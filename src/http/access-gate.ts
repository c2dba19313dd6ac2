import { createHash, timingSafeEqual } from 'node:crypto';
import { type Context } from 'hono';
import { FullmatchError } from '../errors.ts';
import { countedCache } from '../lib/counted-cache.ts';
import { type Secret } from '../lib/secret.ts';
import { type ClientOf } from './client-of.ts';
import { isUnlistedPath } from './unlisted/unlisted-paths.ts';
import { connectionOf } from './records/request-connection.ts';

/** Who may submit contracts for verification over the network. */
export type VerifyAccess = 'open' | 'token' | 'off';

/** Access options from the operator's configuration. */
export interface AccessOptions {
  readonly verify: VerifyAccess;
  /** Tokens from the configuration; {@link AccessGate.useTokens} adds others. */
  readonly tokens: readonly { readonly name: string; readonly token: Secret }[];
  /** Requests that one client may send to this process per hour; 0 disables the limit. */
  readonly verificationsPerHour: number;
  readonly clientOf: ClientOf;
  /** Path prefixes under which submissions always require a token. */
  readonly unlisted?: readonly string[];
  readonly now?: () => number;
}

/** A token, known by its SHA-256. */
interface KnownToken {
  readonly name: string;
  readonly digest: Buffer;
  /** Set if the token has a limit of its own. */
  readonly perHour?: number;
}

const HOUR_S = 3600;
const CLIENTS_COUNTED = 100_000;
/** Name of the policy in the headers of draft-ietf-httpapi-ratelimit-headers. */
const POLICY = 'verifications';

/** Admits requests that verify or import: from everyone, from clients with a token, or from no one. */
export class AccessGate {
  readonly verify: VerifyAccess;
  readonly #configured: readonly KnownToken[];
  #tokens: readonly KnownToken[];
  readonly #perHour: number;
  readonly #clientOf: ClientOf;
  readonly #unlisted: readonly string[];
  readonly #now: () => number;
  /** Requests of each client in its current window of one hour. */
  readonly #hours = countedCache<{ count: number; readonly endsAt: number }>(CLIENTS_COUNTED);

  constructor(options: AccessOptions) {
    const { verify, tokens, verificationsPerHour, clientOf, unlisted, now } = options;
    this.verify = verify;
    this.#unlisted = unlisted ?? [];
    this.#configured = tokens.map(({ name, token }) => ({
      name: `configured ${name}`,
      digest: digestOf(token.reveal()),
    }));
    this.#tokens = this.#configured;
    this.#perHour = verificationsPerHour;
    this.#clientOf = clientOf;
    this.#now = now ?? Date.now;
  }

  /** Accepts these tokens from now on, in addition to those of the configuration. */
  useTokens(tokens: readonly KnownToken[]): void {
    this.#tokens = [...this.#configured, ...tokens];
  }

  /** Whether any token exists. */
  get hasTokens(): boolean {
    return this.#tokens.length > 0;
  }

  /**
   * Counts a request, and admits or refuses it. `RateLimit` headers in the response tell how many are left.
   * @param key token sent in place of an `Authorization: Bearer` header (RFC 6750), namely the API key of the
   * Etherscan protocol
   * @throws FullmatchError verification_off, token_required, token_unknown, too_many_verifications
   */
  admit(c: Context, key?: string): void {
    if (this.verify === 'off') throw verificationOff();
    const token = bearerOf(c.req.header('authorization')) ?? key;
    const known = this.#find(token);
    const isNeeded = this.verify === 'token' || isUnlistedPath(c.req.path, this.#unlisted);
    if (isNeeded && known === undefined) throw refusalOf(token);
    const perHour = known?.perHour ?? this.#perHour;
    if (perHour === 0) return;
    // A token name cannot equal an address, so the two never share a counter.
    const client = known === undefined ? this.#clientOf(c) : `token ${known.name}`;
    const { outgoing } = connectionOf(c) ?? {};
    const headers = Object.entries(headersOf(this.#count(client, perHour)));
    for (const [name, value] of headers) outgoing?.setHeader(name, value);
  }

  /**
   * Admits a lookup of the Etherscan protocol whose key came in its body. Lookups need no token, except of
   * unlisted contracts.
   * @throws FullmatchError token_required, token_unknown
   */
  admitLookup(c: Context, key: string | undefined): void {
    if (!isUnlistedPath(c.req.path, this.#unlisted)) return;
    const token = bearerOf(c.req.header('authorization')) ?? key;
    if (this.#find(token) === undefined) throw refusalOf(token);
  }

  /**
   * Requires a token in the headers. A read may also send it as the password of basic authentication (RFC
   * 7617), as browsers do. Browsers send that automatically, even for requests from other sites, so it does
   * not authorize writes. A read may also send it as `apikey` in the query, as clients of the Etherscan
   * protocol do.
   * @throws FullmatchError token_required, token_unknown
   */
  requireToken({ headers, url }: Request, { isRead = false } = {}): void {
    const authorization = headers.get('authorization') ?? undefined;
    const read = (): string | undefined =>
      passwordOf(authorization) ?? new URL(url).searchParams.get('apikey') ?? undefined;
    const token = bearerOf(authorization) ?? (isRead ? read() : undefined);
    if (this.#find(token) === undefined) throw refusalOf(token);
  }

  /** Returns whether a request has a valid token in its headers. */
  hasToken({ headers }: Request): boolean {
    return this.#find(bearerOf(headers.get('authorization') ?? undefined)) !== undefined;
  }

  /** Compares every token, so that timing does not reveal which one is nearly right. */
  #find(token: string | undefined): KnownToken | undefined {
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    return this.#tokens.filter((known) => timingSafeEqual(known.digest, digest))[0];
  }

  #count(client: string, perHour: number): RateLimit {
    const now = this.#now();
    const known = this.#hours.get(client);
    const hour =
      known !== undefined && known.endsAt > now ? known : { count: 0, endsAt: now + HOUR_S * 1000 };
    if (hour !== known) this.#hours.set(client, hour);
    const seconds = Math.ceil((hour.endsAt - now) / 1000);
    if (hour.count >= perHour) throw tooManyVerifications(perHour, seconds);
    hour.count += 1;
    return { perHour, remaining: perHour - hour.count, seconds };
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** Returns the password of basic authentication; the user name is ignored. */
function passwordOf(authorization: string | undefined): string | undefined {
  const [, encoded] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

function refusalOf(token: string | undefined): FullmatchError {
  return token === undefined || token === '' ? tokenRequired() : tokenUnknown();
}

function verificationOff(): FullmatchError {
  return new FullmatchError(
    'verification_off',
    'This service does not accept verification requests (access.verify: off).',
  );
}

const HOW =
  'send `Authorization: Bearer <token>`, or the token as the API key of the Etherscan protocol';

function tokenRequired(): FullmatchError {
  return new FullmatchError(
    'token_required',
    `A token is required; ${HOW}. The operator of this service issues tokens.`,
  );
}

function tokenUnknown(): FullmatchError {
  return new FullmatchError(
    'token_unknown',
    `The token is unknown, revoked or expired; ${HOW}. The operator of this service issues tokens.`,
  );
}

function tooManyVerifications(perHour: number, seconds: number): FullmatchError {
  return new FullmatchError(
    'too_many_verifications',
    `The limit of ${perHour} verification requests an hour is reached; retry in ${seconds} seconds.`,
    {
      details: { retryAfterSeconds: seconds, rateLimit: { policy: POLICY, perHour, seconds } },
    },
  );
}

/** Requests left in a client's window, and the time until it ends. */
interface RateLimit {
  readonly perHour: number;
  readonly remaining: number;
  readonly seconds: number;
}

const headersOf = ({ perHour, remaining, seconds }: RateLimit): Record<string, string> => ({
  'ratelimit-policy': `"${POLICY}";q=${perHour};w=${HOUR_S}`,
  ratelimit: `"${POLICY}";r=${remaining};t=${seconds}`,
});

/** Returns the `RateLimit` headers of a refusal, with nothing left; empty for any other problem. */
export function rateLimitHeaders(
  problem: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const limit = problem['rateLimit'] as Omit<RateLimit, 'remaining'> | undefined;
  return limit === undefined ? {} : headersOf({ ...limit, remaining: 0 });
}
