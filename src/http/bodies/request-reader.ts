import { Readable } from 'node:stream';
import { type Context } from 'hono';

import { FullmatchError } from '../../errors.ts';
import { packageFile } from '../../lib/package-file.ts';
import { TaskThread } from '../../lib/task-thread.ts';
import { type AccessGate } from '../access-gate.ts';
import { bodyTooLarge, exceedsDeclaredLimit } from '../body-limit.ts';
import { type ClientOf } from '../client-of.ts';
import { connectionOf, withClientSignal } from '../records/request-connection.ts';
import { toThreadError } from '../thread-errors.ts';
import { BodyAdmission, SMALL_BODY_BYTES, tooManyBodies } from './admit-body.ts';
import { type BodyForm, type BodyKind, type ParsedBody } from './read-request.ts';
import { type BodyReadResult, type BodyReadTask } from './reading-thread.ts';
import { receiveBody } from './receive-body.ts';
import { type RequestLimits } from './request-limits.ts';

/** Options and limits of the request reader. */
export interface RequestReaderOptions {
  readonly request: RequestLimits;
  /** The largest body, in bytes. */
  readonly bodyBytes: number;
  readonly clientOf: ClientOf;
  /** Admits requests that verify or import. */
  readonly access: Pick<AccessGate, 'admit' | 'admitLookup'>;
}

/** Reads the bodies of verification requests, a few at once, and parses them off the main thread. */
export interface RequestReader {
  /**
   * Reads and parses the body of a request.
   * @param limitBytes the largest body, if the limit is lower than that of verification requests
   * @throws FullmatchError with the fault of the body; unsupported_content_coding, request_too_large,
   * too_many_client_bodies, too_many_bodies; errors of {@link AccessGate.admit}; request_too_complex for a
   * body that takes too long or too much memory; malformed_request if the client disconnects
   */
  read<Kind extends BodyKind>(
    c: Context,
    form: BodyForm<Kind>,
    limitBytes?: number,
  ): Promise<ParsedBody<Kind>>;
  /**
   * Parses a response that the service fetched from another explorer.
   * @throws FullmatchError with the fault of the response; too_many_bodies, request_too_complex
   */
  readFetched<Kind extends BodyKind>(
    bytes: Buffer,
    form: BodyForm<Kind>,
    client: string,
  ): Promise<ParsedBody<Kind>>;
  close(): Promise<void>;
}

const MIB = 2 ** 20;

/**
 * Parsing, canonical JSON and compression take about 1.5 seconds and, for texts with two bytes per character,
 * nine times the size of the largest body.
 */
const HEAP_PER_BYTE = 9;
const HEAP_LEAST_BYTES = 96 * MIB;
/**
 * Kinds that verify or import and need admission; requests of the Etherscan protocol reveal their kind only
 * in the body.
 */
const ADMITTED: ReadonlySet<BodyKind> = new Set([
  ...(['standard_json', 'metadata', 'sources', 'similarity', 'explorer', 'v1', 'place'] as const),
  ...(['blockscout', 'blockscout_submission', 'signatures', 'provider_abi'] as const),
]);
const READING = { taskTimeoutMs: 30_000, queueLimit: 1000, idleMs: 5_000 };

/** Creates the reader; its threads start on demand. */
export function createRequestReader(options: RequestReaderOptions): RequestReader {
  const { request: limits, bodyBytes, clientOf, access } = options;
  const bodies = new BodyAdmission();
  const threadFor = (largestBytes: number): TaskThread<BodyReadTask, BodyReadResult> => {
    const heapBytes = HEAP_LEAST_BYTES + HEAP_PER_BYTE * largestBytes;
    return new TaskThread(packageFile('dist/http/bodies/reading-thread.js'), {
      ...READING,
      heapBytes,
    });
  };
  const small = threadFor(Math.min(SMALL_BODY_BYTES, bodyBytes));
  const large = threadFor(bodyBytes);
  const ask = async <Kind extends BodyKind>(
    form: BodyForm<Kind>,
    blocks: readonly Uint8Array[],
    requester: Parameters<typeof small.ask>[1],
  ): Promise<ParsedBody<Kind>> => {
    const length = blocks.reduce((sum, block) => sum + block.length, 0);
    const thread = length <= SMALL_BODY_BYTES ? small : large;
    const task: BodyReadTask = { form: form as BodyForm, limits, blocks };
    try {
      // The thread reads each kind of body with its own reader.
      return readAnswer(await thread.ask(task, requester)) as ParsedBody<Kind>;
    } catch (error) {
      throw toThreadError(error, { queueFull: tooManyBodies, tooMuch: requestTooComplex });
    }
  };
  return {
    read: async (c, form, mostBytes = bodyBytes) => {
      if (ADMITTED.has(form.kind)) access.admit(c, keyInQuery(c, form));
      const client = clientOf(c);
      requireNoCoding(c);
      const limitBytes = Math.min(mostBytes, bodyBytes);
      const declaredBytes = declaredLength(c, limitBytes);
      return withClientSignal(c, async (signal) => {
        const leave = await bodies.enter(client, declaredBytes, signal);
        try {
          const blocks = await receiveBody(streamOf(c), { limitBytes, declaredBytes });
          const transfer = blocks.map(({ buffer }) => buffer);
          const requester = { client, transfer, signal };
          const read = await ask(form, blocks, requester);
          // Only the body of such a request reveals its kind and holds its key.
          if (form.kind === 'etherscan') {
            const parsed: ParsedBody = read;
            if ('request' in parsed) access.admit(c, 'key' in parsed ? parsed.key : undefined);
            else access.admitLookup(c, 'fields' in parsed ? parsed.fields['apikey'] : undefined);
          }
          return read;
        } finally {
          leave();
        }
      });
    },
    readFetched: (bytes, form, client) => {
      const block = new Uint8Array(bytes);
      const requester = { client, transfer: [block.buffer] };
      return ask(form, [block], requester);
    },
    close: async () => {
      await Promise.all([small.close(), large.close()]);
    },
  };
}

/** Returns the token that clients of Blockscout's API send as their API key; an empty key counts as absent. */
function keyInQuery(c: Context, { kind }: { readonly kind: BodyKind }): string | undefined {
  return kind === 'blockscout_submission' ? c.req.query('apikey') || undefined : undefined;
}

/** Returns the body as a stream. If the body is not read to its end, the connection must stay open for the response. */
function streamOf(c: Context): Readable {
  const incoming = connectionOf(c)?.incoming;
  if (incoming !== undefined) return incoming;
  // Accessing the Request's body on a live connection would create a second reader that buffers everything
  // the first one reads.
  const { body } = c.req.raw;
  return body === null ? Readable.from([]) : Readable.fromWeb(body);
}

function requireNoCoding(c: Context): void {
  const coding = c.req.header('content-encoding')?.trim() ?? '';
  if (['', 'identity'].includes(coding.toLowerCase())) return;
  throw new FullmatchError(
    'unsupported_content_coding',
    'Compressed bodies are not read; send the body without Content-Encoding.',
  );
}

/**
 * Returns the declared length of a body.
 * @throws FullmatchError request_too_large
 */
function declaredLength(c: Context, limitBytes: number): number | undefined {
  const length = c.req.header('content-length');
  if (length === undefined) return undefined;
  if (exceedsDeclaredLimit({ headers: { 'content-length': length } }, limitBytes)) {
    throw bodyTooLarge(limitBytes);
  }
  return Number(length);
}

function readAnswer(answer: BodyReadResult): ParsedBody {
  if ('read' in answer) return answer.read;
  if ('failed' in answer) throw new Error(`a body could not be read: ${answer.failed}`);
  const { code, message, details } = answer.refused;
  throw new FullmatchError(code, message, { details });
}

function requestTooComplex(): FullmatchError {
  return new FullmatchError(
    'request_too_complex',
    'The body takes too much time or memory to read; send fewer and smaller files.',
  );
}
