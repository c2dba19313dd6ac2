import { readAnswer } from './request.ts';
import { type MatchEvent, type RegistryEvent } from './schemas.ts';

/** An event of the service. `reset`: events may have been missed that it no longer knows. */
export type ServiceEvent = {
  /** Cursor after this event. */
  lastEventId: string;
} & (
  | { type: 'match'; data: MatchEvent }
  | { type: 'registry'; data: RegistryEvent }
  | { type: 'reset' }
);

/** Where the events start: after `lastEventId`, else now; and a signal that ends them. */
export interface EventQuestion {
  lastEventId?: string;
  signal?: AbortSignal;
}

/** Default reconnection delay. */
const RETRY_MS = 3000;

/**
 * Reads `/v1/events` (Server-Sent Events, HTML standard, 9.2) indefinitely. After a lost connection or a
 * temporary refusal it reconnects with the id of the last event, without repeating an event.
 */
export async function* followEvents(
  request: typeof fetch,
  url: string,
  { lastEventId = '', signal }: EventQuestion,
): AsyncGenerator<ServiceEvent, never> {
  let id = lastEventId;
  let retryMs = RETRY_MS;
  for (;;) {
    for await (const block of readBlocks(request, url, id, signal)) {
      retryMs = Number(block.get('retry') ?? retryMs);
      id = block.get('id') ?? id;
      const type = block.get('event');
      if (type === undefined) continue;
      const data: unknown = JSON.parse(block.get('data') ?? '{}');
      yield { type, data, lastEventId: id } as ServiceEvent;
    }
    await pause(retryMs, signal);
  }
}

/** Fields of each block of one connection. It ends without an error if a reconnection makes sense. */
async function* readBlocks(
  request: typeof fetch,
  url: string,
  lastEventId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadonlyMap<string, string>> {
  const response = await request(url, {
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId !== '' && { 'last-event-id': lastEventId }),
    },
    ...(signal && { signal }),
  }).catch(endUnlessAborted(signal));
  if (response === undefined) return;
  if (response.status >= 500) {
    await response.body?.cancel();
    return;
  }
  if (!response.ok || response.body === null) {
    await readAnswer(url, response);
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const chunk = await reader.read().catch(endUnlessAborted(signal));
      if (chunk?.value === undefined) return;
      const blocks = (text + chunk.value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) yield fieldsOf(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The service writes a field's data on one line. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  return new Map(
    block.split('\n').map((line) => {
      const [name = '', value = ''] = line.split(/: ?(.*)/s);
      return [name, value];
    }),
  );
}

const endUnlessAborted =
  (signal: AbortSignal | undefined) =>
  (error: unknown): undefined => {
    if (signal?.aborted === true) throw error;
  };

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
}
