import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import { sql, type Database } from '../store/database.ts';
import { type ReloadOutcome } from './reloader.ts';

/** Channel on which every service of a database receives requests. */
const REQUESTS_CHANNEL = 'fullmatch_reload';
/** Channel on which the requesting process receives responses. */
const ANSWERS_CHANNEL = 'fullmatch_reload_answers';

const NOTIFY = sql('notify of a reload', `SELECT pg_notify($1, $2)`);
/** A listening connection runs no other statement, so its last statement is the LISTEN. */
const COUNT_SERVICES = sql(
  'count services that hear reloads',
  `SELECT count(*)::int AS services FROM pg_stat_activity
    WHERE datname = current_database() AND query = 'LISTEN ${REQUESTS_CHANNEL}'`,
);

/** A service may receive requests without being visible here: another role's connections are hidden. */
const UNSEEN_TIMEOUT_MS = 3_000;
/** PostgreSQL sends at most 7,999 bytes. */
const PAYLOAD_MAX_BYTES = 7_900;
const REASON_BYTES = [5_000, 2_000, 500] as const;
const MAX_KEYS = 40;

const answerSchema = z.object({
  request: z.string(),
  /** Host and process id of the service. */
  service: z.string(),
  taken: z.boolean(),
  changed: z.array(z.string()),
  restart: z.array(z.string()),
  code: z
    .custom<ErrorCode>((code) => typeof code === 'string' && Object.hasOwn(ERROR_CODES, code))
    .optional(),
  reason: z.string().optional(),
});

/** Result of the reload in one service, identified by host and process id. */
export type ReloadResponse = Omit<z.infer<typeof answerSchema>, 'request'>;

/** Reloads when a request arrives over the database, and responds with the result. */
export async function serveReloadRequests(
  database: Database,
  reload: () => Promise<ReloadOutcome>,
): Promise<{ close(): Promise<void> }> {
  const service = `${hostname()}/${process.pid}`;
  const stop = await database.listen(REQUESTS_CHANNEL, (request) => {
    // After a reconnection no earlier request is still awaited.
    if (request === undefined || !z.uuid().safeParse(request).success) return;
    void reload().then((outcome) =>
      database
        .query(NOTIFY, [ANSWERS_CHANNEL, encodeResponse(request, service, outcome)])
        .catch(() => undefined),
    );
  });
  return { close: stop };
}

/**
 * Asks every service of the database to reload its configuration, and returns the responses that arrive in
 * time. `expected` is the number of services as far as they are visible.
 * @throws FullmatchError those of the store
 */
export async function requestReload(
  database: Database,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<{ readonly answers: readonly ReloadResponse[]; readonly expected: number }> {
  const request = randomUUID();
  const answers: ReloadResponse[] = [];
  let endIfComplete = (): void => undefined;
  const stop = await database.listen(ANSWERS_CHANNEL, (payload) => {
    const answer = readAnswer(payload, request);
    if (answer === undefined) return;
    answers.push(answer);
    endIfComplete();
  });
  try {
    const [row] = await database.query<{ services: number }>(COUNT_SERVICES);
    const expected = row?.services ?? 0;
    await database.query(NOTIFY, [REQUESTS_CHANNEL, request]);
    const unseenMs = expected === 0 ? Math.min(UNSEEN_TIMEOUT_MS, options.timeoutMs) : undefined;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, unseenMs ?? options.timeoutMs);
      options.signal.addEventListener('abort', () => resolve(), { once: true });
      endIfComplete = () => {
        if (answers.length < Math.max(1, expected)) return;
        clearTimeout(timer);
        resolve();
      };
      endIfComplete();
    });
    return { answers, expected };
  } finally {
    await stop();
  }
}

function readAnswer(payload: string | undefined, request: string): ReloadResponse | undefined {
  try {
    const { request: asked, ...answer } = answerSchema.parse(JSON.parse(payload ?? ''));
    return asked === request ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** The response as a payload: long lists and reasons are truncated until it fits. */
export function encodeResponse(request: string, service: string, outcome: ReloadOutcome): string {
  const { changed, restart, reason, ...rest } = outcome;
  const short = { ...rest, changed: cutList(changed), restart: cutList(restart) };
  for (const bytes of REASON_BYTES) {
    const cut = reason === undefined ? {} : { reason: cutText(reason, bytes) };
    const payload = JSON.stringify({ request, service, ...short, ...cut });
    if (Buffer.byteLength(payload) <= PAYLOAD_MAX_BYTES) return payload;
  }
  return JSON.stringify({ request, service, ...rest, changed: [], restart: [] });
}

function cutList(keys: readonly string[]): readonly string[] {
  if (keys.length <= MAX_KEYS) return keys;
  return [...keys.slice(0, MAX_KEYS), `and ${keys.length - MAX_KEYS} more`];
}

function cutText(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  // Decoding a truncated character yields a replacement character, which marks the cut well enough.
  return buffer.length <= bytes ? text : `${buffer.subarray(0, bytes).toString()}…`;
}
