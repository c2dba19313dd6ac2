import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Context } from 'hono';
import { FullmatchError } from '../errors.ts';
import { type Secret } from '../lib/secret.ts';
import { clientOf, type TrustedProxies } from './client-of.ts';
import { isUnlistedPath } from './unlisted/unlisted-paths.ts';
import { connectionOf } from './records/answer-connection.ts';

/** Who may have contracts verified over the network. */
export type VerifyAccess = 'open' | 'token' | 'off';

/** What an operator says of access. */
export interface AccessOptions {
  readonly verify: VerifyAccess;
  /** Those of the configuration; others are given by {@link AccessGate.useTokens}. */
  readonly tokens: readonly { readonly name: string; readonly token: Secret }[];
  /** How many requests one client may send to this process in an hour; 0 for no bound. */
  readonly verificationsPerHour: number;
  readonly trustedProxies: TrustedProxies;
  /** Where what is sent needs a token, whoever may send elsewhere. */
  readonly unlisted?: readonly string[];
  readonly now?: () => number;
}

/** A token that is known by its SHA-256. */
interface KnownToken {
  readonly name: string;
  readonly digest: Buffer;
  /** Where it has a bound of its own. */
  readonly perHour?: number;
}

const HOUR_S = 3600;
const CLIENTS_COUNTED = 100_000;
/** The name of the bound in the headers of draft-ietf-httpapi-ratelimit-headers. */
const POLICY = 'verifications';

/** Lets requests to verify and to import through: those of everybody, of who has a token, or of nobody. */
export class AccessGate {
  readonly verify: VerifyAccess;
  readonly #configured: readonly KnownToken[];
  #tokens: readonly KnownToken[];
  readonly #perHour: number;
  readonly #trustedProxies: TrustedProxies;
  readonly #unlisted: readonly string[];
  readonly #now: () => number;
  /** The requests of each client in its hour. */
  readonly #hours = new LRUCache<string, { count: number; readonly endsAt: number }>({
    max: CLIENTS_COUNTED,
  });

  constructor(options: AccessOptions) {
    const { verify, tokens, verificationsPerHour, trustedProxies, unlisted, now } = options;
    this.verify = verify;
    this.#unlisted = unlisted ?? [];
    this.#configured = tokens.map(({ name, token }) => ({
      name: `configured ${name}`,
      digest: digestOf(token.reveal()),
    }));
    this.#tokens = this.#configured;
    this.#perHour = verificationsPerHour;
    this.#trustedProxies = trustedProxies;
    this.#now = now ?? Date.now;
  }

  /** Accepts these tokens from now on, and those of the configuration. */
  useTokens(tokens: readonly KnownToken[]): void {
    this.#tokens = [...this.#configured, ...tokens];
  }

  /** Whether anybody has a token. */
  get hasTokens(): boolean {
    return this.#tokens.length > 0;
  }

  /**
   * Counts a request, and lets it through or refuses it; the response tells in `RateLimit` headers what is left.
   * @param key what it brings in the place of an `Authorization: Bearer` header (RFC 6750): the API key of the Etherscan protocol
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
    // The name of a token is no address, so that the two are never one client.
    const client =
      known === undefined ? clientOf(c.env, this.#trustedProxies) : `token ${known.name}`;
    const { outgoing } = connectionOf(c) ?? {};
    const headers = Object.entries(headersOf(this.#count(client, perHour)));
    for (const [name, value] of headers) outgoing?.setHeader(name, value);
  }

  /**
   * Lets a look-up of the Etherscan protocol through, whose key came in its body: anybody's, but of unlisted contracts.
   * @throws FullmatchError token_required, token_unknown
   */
  admitLookUp(c: Context, key: string | undefined): void {
    if (!isUnlistedPath(c.req.path, this.#unlisted)) return;
    const token = bearerOf(c.req.header('authorization')) ?? key;
    if (this.#find(token) === undefined) throw refusalOf(token);
  }

  /**
   * Lets a request through that brings a token in its header. One that reads may bring it as the password of basic
   * authentication (RFC 7617) too, as a browser does: a browser sends that by itself, also for another site, so that it
   * lets nobody write. It may bring it as `apikey` in the query, as clients of the Etherscan protocol do.
   * @throws FullmatchError token_required, token_unknown
   */
  requireToken({ headers, url }: Request, { isRead = false } = {}): void {
    const authorization = headers.get('authorization') ?? undefined;
    const read = (): string | undefined =>
      passwordOf(authorization) ?? new URL(url).searchParams.get('apikey') ?? undefined;
    const token = bearerOf(authorization) ?? (isRead ? read() : undefined);
    if (this.#find(token) === undefined) throw refusalOf(token);
  }

  /** Whether a request brings a token in its header. */
  hasToken({ headers }: Request): boolean {
    return this.#find(bearerOf(headers.get('authorization') ?? undefined)) !== undefined;
  }

  /** Every token is compared, so that the time says nothing of which one is nearly right. */
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

/** The password of basic authentication; the user's name says nothing. */
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

/** How much is left of a client's hour, and how long it lasts. */
interface RateLimit {
  readonly perHour: number;
  readonly remaining: number;
  readonly seconds: number;
}

const headersOf = ({ perHour, remaining, seconds }: RateLimit): Record<string, string> => ({
  'ratelimit-policy': `"${POLICY}";q=${perHour};w=${HOUR_S}`,
  ratelimit: `"${POLICY}";r=${remaining};t=${seconds}`,
});

/** The `RateLimit` headers of a refusal: nothing is left. Empty for any other problem. */
export function rateLimitHeaders(
  problem: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const limit = problem['rateLimit'] as Omit<RateLimit, 'remaining'> | undefined;
  return limit === undefined ? {} : headersOf({ ...limit, remaining: 0 });
}
