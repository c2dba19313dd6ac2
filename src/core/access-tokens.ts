import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { FullmatchError, messageOf } from '../errors.ts';
import { repeatUntilClosed } from '../lib/repeat.ts';
import { type Logger } from '../log.ts';
import { sql, type Queryable } from '../store/database.ts';

/** A token as listed: the database contains only its hash. */
export interface AccessToken {
  readonly name: string;
  /** Verification requests per hour for each process; if absent, `access.verificationsPerHour` applies. */
  readonly perHour?: number;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
}

/** A valid token. */
export interface ValidToken {
  readonly name: string;
  /** Its SHA-256. */
  readonly digest: Buffer;
  readonly perHour?: number;
}

const INSERT = sql(
  'create access token',
  `INSERT INTO access_tokens (name, digest, per_hour, expires_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (name) DO NOTHING RETURNING created_at`,
);
const LIST = sql(
  'list access tokens',
  'SELECT name, per_hour, created_at, expires_at FROM access_tokens ORDER BY name',
);
const DELETE = sql(
  'revoke access token',
  'DELETE FROM access_tokens WHERE name = $1 RETURNING name',
);
const READ_VALID = sql(
  'read valid access tokens',
  'SELECT name, digest, per_hour FROM access_tokens WHERE expires_at IS NULL OR expires_at > now()',
);

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const TOKEN_BYTES = 24;
/** Prefix by which secret scanners recognise a leaked token. */
const PREFIX = 'fullmatch_';
/** Maximum delay until a service learns of new and revoked tokens. */
const POLL_MS = 1000;

/**
 * Creates a token.
 * @returns the token itself, which is not stored anywhere, and its list entry
 * @throws FullmatchError `invalid_parameter`, `access_token_exists`
 */
export async function createAccessToken(
  database: Queryable,
  name: string,
  { perHour, expiresAt }: Pick<AccessToken, 'perHour' | 'expiresAt'> = {},
): Promise<AccessToken & { readonly token: string }> {
  if (!NAME.test(name)) {
    throw new FullmatchError(
      'invalid_parameter',
      'A token has a name of 1 to 64 letters, digits, dots, hyphens and underscores, such as ci or alice.',
      { details: { parameter: 'name' } },
    );
  }
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('hex');
  const digest = createHash('sha256').update(token).digest();
  const [row] = await database.query<{ created_at: Date }>(INSERT, [
    name,
    digest,
    perHour ?? null,
    expiresAt?.toISOString() ?? null,
  ]);
  if (row === undefined) {
    throw new FullmatchError(
      'access_token_exists',
      `There is already a token ${name}; revoke it first, or choose another name.`,
      { details: { name } },
    );
  }
  const limits = { ...(perHour !== undefined && { perHour }), ...(expiresAt && { expiresAt }) };
  return { name, token, createdAt: row.created_at, ...limits };
}

/** All tokens by name, including expired ones. */
export async function listAccessTokens(database: Queryable): Promise<readonly AccessToken[]> {
  const rows = await database.query<{
    name: string;
    per_hour: number | null;
    created_at: Date;
    expires_at: Date | null;
  }>(LIST);
  return rows.map(({ name, per_hour, created_at, expires_at }) => ({
    name,
    ...(per_hour !== null && { perHour: per_hour }),
    createdAt: created_at,
    ...(expires_at !== null && { expiresAt: expires_at }),
  }));
}

/**
 * Revokes a token.
 * @throws FullmatchError `access_token_not_found`
 */
export async function revokeAccessToken(database: Queryable, name: string): Promise<void> {
  if ((await database.query(DELETE, [name])).length > 0) return;
  throw new FullmatchError(
    'access_token_not_found',
    `There is no token ${name}; fullmatch tokens list shows all of them.`,
    { details: { name } },
  );
}

async function readValidTokens(database: Queryable): Promise<readonly ValidToken[]> {
  const rows = await database.query<{ name: string; digest: Buffer; per_hour: number | null }>(
    READ_VALID,
  );
  return rows.map(({ name, digest, per_hour }) => ({
    name,
    digest,
    ...(per_hour !== null && { perHour: per_hour }),
  }));
}

/**
 * Keeps a service's tokens in sync with the database. While the database does not respond, the last known
 * tokens stay valid.
 * @returns after the tokens were first read
 */
export async function followAccessTokens(
  database: Queryable,
  use: (tokens: readonly ValidToken[]) => void,
  log: Logger,
  pollMs = POLL_MS,
): Promise<{ close(): Promise<void> }> {
  use(await readValidTokens(database));
  const follow = async (signal: AbortSignal): Promise<number> => {
    await wait(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (!signal.aborted) use(await readValidTokens(database));
    return 0;
  };
  const onFailure = (error: unknown): void => {
    const facts = { event: 'access_tokens_unread', error: messageOf(error) };
    log.warn(facts, 'token changes cannot be read at the moment');
  };
  return repeatUntilClosed(follow, { retryMs: 0, onFailure });
}
